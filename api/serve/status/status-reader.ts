import { sql } from "kysely";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { pendingMigrations } from "../../../projections/log/migrate.ts";
import { readIdleRoles, readLogHead } from "../../../projections/log/status.ts";
import { type ChainSource, openChainStatus } from "./chain-status.ts";
import type { LateSeconds } from "./limits.ts";
import { openProjectionStatus } from "./projection-status.ts";
import type { FailingPart, Findings, ProjectionStatus, ServiceStatus } from "./service-status.ts";

export type StatusSources = {
  readonly db: Database;
  readonly chains: readonly ChainSource[];
  /** Names of the projections that must stand. */
  readonly projections: readonly string[];
  readonly now: () => Date;
  readonly logger: Logger;
  readonly lateSeconds: LateSeconds;
  /** Milliseconds a status is used again. */
  readonly maxAgeMs: number;
};

export type StatusReader = () => Promise<ServiceStatus>;

/** Milliseconds the database is given to answer. */
const databaseMs = 2000;

/** Measures every part. Callers at the same time share one measurement; changes are logged. */
export function openStatusReader(sources: StatusSources): StatusReader {
  const measure = openMeasurement(sources);
  const tell = openReporter(sources.logger);
  let current: { promise: Promise<ServiceStatus>; expiresAt: number } | undefined;
  return () => {
    if (current !== undefined && performance.now() < current.expiresAt) return current.promise;
    const fresh = { promise: measure(), expiresAt: Infinity };
    current = fresh;
    const settle = (status?: ServiceStatus) => {
      fresh.expiresAt = performance.now() + sources.maxAgeMs;
      if (status !== undefined) tell(status);
    };
    fresh.promise.then(settle, () => settle());
    return fresh.promise;
  };
}

function openMeasurement({ db, chains, projections, now, lateSeconds }: StatusSources) {
  const chainStatuses = chains.map((chain) => openChainStatus(chain, lateSeconds));
  const projectionStatus = openProjectionStatus(projections, lateSeconds.projection);
  const none: Findings<ProjectionStatus[]> = { status: [], failing: [], warnings: [] };
  const checkDatabase = openDatabaseCheck(db);

  return async (): Promise<ServiceStatus> => {
    const at = now().getTime();
    const broken = await checkDatabase();
    const readable = broken === undefined ? db : null;
    const [idle, ...looked] = await Promise.all([
      readable === null ? [] : findIdleRoles(readable, lateSeconds.lease),
      ...chainStatuses.map((look) => look(readable, at)),
    ]);
    // In the direction of the data: whoever compares two of them never takes for derived what is not.
    const logPosition = readable && (await readLogHead(readable));
    const folded = readable === null ? none : await projectionStatus(readable, at);
    const findings = [...looked, folded];
    const failing = [
      ...(broken === undefined ? [] : [broken]),
      ...idle,
      ...findings.flatMap((one) => one.failing),
    ];
    return {
      ready: failing.length === 0,
      failing,
      warnings: findings.flatMap((one) => one.warnings),
      logPosition: logPosition === null ? null : Number(logPosition),
      chains: looked.map((one) => one.status),
      projections: folded.status,
    };
  };
}

/** Roles in which nobody works, though somebody did: their last process is gone, frozen or cut off. */
async function findIdleRoles(db: Database, lateSeconds: number): Promise<FailingPart[]> {
  const roles = await readIdleRoles(db);
  return roles
    .filter(({ seconds }) => seconds > lateSeconds)
    .map(({ role, seconds }) => ({
      part: role,
      message: `no process works as the ${role}`,
      behind: { seconds },
    }));
}

/** Migrations only go forward: once current, they stay current. */
function openDatabaseCheck(db: Database): () => Promise<FailingPart | undefined> {
  let migrated = false;
  return async () => {
    try {
      await within(databaseMs, sql`select 1`.execute(db));
      if (migrated) return undefined;
      const pending = await within(databaseMs, pendingMigrations(db));
      migrated = pending.length === 0;
      if (migrated) return undefined;
      return { part: "migrations", message: `the database lacks ${pending.join(", ")}` };
    } catch (error) {
      return { part: "database", message: causeOf(error) };
    }
  };
}

async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The driver's messages may quote addresses and users; its code says enough. */
function causeOf(error: unknown): string {
  if (error instanceof Error && "code" in error) return `cannot be used (${String(error.code)})`;
  return error instanceof Error && error.message.startsWith("no answer")
    ? error.message
    : "cannot be used";
}

/** Logs when the set of failing parts or warnings becomes another. */
function openReporter(logger: Logger): (status: ServiceStatus) => void {
  let told = "";
  return ({ ready, failing, warnings }) => {
    const parts = [
      ...failing.map(({ part }) => part),
      ...warnings.map((one) => ("part" in one ? one.part : one.endpoint) + one.kind),
    ];
    const names = parts.sort().join(", ");
    if (names === told) return;
    told = names;
    if (names === "") logger.info("every part is current");
    else logger.warn({ failing, warnings }, ready ? "ready, with warnings" : "not ready");
  };
}

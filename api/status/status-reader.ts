import { sql } from "kysely";
import type { Logger } from "pino";
import { withinMs } from "#jobs/runner/limits.ts";
import {
  describeExcludedFacts,
  type ExcludedFacts,
  readExcludedFacts,
} from "#projections/engine/quarantine.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type ProjectionProgress,
  readHasClock,
  readIdleRoles,
  readProjectionProgress,
} from "#projections/log/progress.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { type ChainSource, openChainStatus } from "./chain-status.ts";
import {
  type ExclusionWarning,
  type FailingPart,
  type Findings,
  type Lag,
  type MaxLagSeconds,
  type ProjectionStatus,
  type ServiceStatus,
  type TrackedFollower,
  trackFollower,
} from "./service-status.ts";

type StatusSources = {
  readonly db: Database;
  readonly chains: readonly ChainSource[];
  /** Names of the projections that must be current. */
  readonly projections: readonly string[];
  readonly now: () => Date;
  readonly logger: Logger;
  readonly lateSeconds: MaxLagSeconds;
  /** Milliseconds for which a status is reused. */
  readonly maxAgeMs: number;
};

export type StatusReader = () => Promise<ServiceStatus>;

/** Milliseconds for the database to answer. */
const databaseMs = 2000;

/** Checks every part. Concurrent callers share one check; changes are logged. */
export function openStatusReader(sources: StatusSources): StatusReader {
  const measure = openMeasurement(sources);
  const report = openReporter(sources.logger);
  let current: { promise: Promise<ServiceStatus>; expiresAt: number } | undefined;
  return () => {
    if (current !== undefined && performance.now() < current.expiresAt) return current.promise;
    const fresh = { promise: measure(), expiresAt: Infinity };
    current = fresh;
    const settle = (status?: ServiceStatus) => {
      fresh.expiresAt = performance.now() + sources.maxAgeMs;
      if (status !== undefined) report(status);
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
  const findMissingClock = openClockCheck();

  return async (): Promise<ServiceStatus> => {
    const at = now().getTime();
    const databaseFault = await checkDatabase();
    const readable = databaseFault === undefined ? db : null;
    const [idle, ...chainFindings] = await Promise.all([
      readable === null
        ? []
        : findIdleRoles(readable, lateSeconds.lease).then(findMissingClock(readable)),
      ...chainStatuses.map((look) => look(readable, at)),
    ]);
    // The log's head is read before the checkpoints, so that a projection never seems ahead of the log.
    const logPosition = readable && (await readLogHead(readable));
    const projectionFindings = readable === null ? none : await projectionStatus(readable, at);
    const findings = [...chainFindings, projectionFindings];
    const failing = [
      ...(databaseFault === undefined ? [] : [databaseFault]),
      ...idle,
      ...findings.flatMap((one) => one.failing),
    ];
    return {
      ready: failing.length === 0,
      failing,
      warnings: findings.flatMap((one) => one.warnings),
      logPosition: logPosition === null ? null : Number(logPosition),
      chains: chainFindings.map((one) => one.status),
      projections: projectionFindings.status,
    };
  };
}

/** Roles that had a leader and have none now: its process is gone, frozen or disconnected. */
async function findIdleRoles(db: Database, lateSeconds: number): Promise<FailingPart[]> {
  const roles = await readIdleRoles(db);
  return roles
    .filter(({ seconds }) => seconds > lateSeconds)
    .map(({ role, seconds }) => ({
      part: role,
      message: `no process is running as the ${role}`,
      behind: { seconds },
    }));
}

/** Before the first time is recorded, volume and sales of every period are none, whatever was sold. It stays recorded. */
function openClockCheck() {
  let hasClock = false;
  return (db: Database) =>
    async (others: FailingPart[]): Promise<FailingPart[]> => {
      hasClock ||= await readHasClock(db);
      if (hasClock) return others;
      const message = "no time is recorded yet that periods of figures end at";
      return [...others, { part: "clock", message }];
    };
}

/** Migrations only go forward, so they are checked until they are current once. */
function openDatabaseCheck(db: Database): () => Promise<FailingPart | undefined> {
  let migrated = false;
  return async () => {
    try {
      await withTimeout(databaseMs, sql`select 1`.execute(db));
      if (migrated) return undefined;
      const pending = await withTimeout(databaseMs, pendingMigrations(db));
      migrated = pending.length === 0;
      if (migrated) return undefined;
      return { part: "migrations", message: `the database lacks ${pending.join(", ")}` };
    } catch (error) {
      return { part: "database", message: causeOf(error) };
    }
  };
}

async function withTimeout<Value>(ms: number, promise: Promise<Value>): Promise<Value> {
  return await withinMs(ms, promise, () => {
    throw new Error(`no answer within ${ms} ms`);
  });
}

/** In our words: the driver's may contain addresses and user names, and its codes say nothing to who asks. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "cannot be used";
  if (error.message.startsWith("no answer")) return error.message;
  const reason = "code" in error ? reasons.get(String(error.code)) : undefined;
  return reason === undefined ? "cannot be used" : `cannot be used: ${reason}`;
}

/** By the codes of the driver and of PostgreSQL. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "it refuses connections"],
  ["ENOENT", "nothing listens there"],
  ["ENOTFOUND", "its host is not known"],
  ["EAI_AGAIN", "its host is not known"],
  ["28P01", "it refuses the user"],
  ["28000", "it refuses the user"],
  ["3D000", "there is no such database"],
  ["53300", "it takes no more connections"],
  ["57P03", "it is starting"],
]);

/** A service that was never ready is starting; what it still waits for is worth a line only after so long. */
const startMs = 60_000;

/** Logs when the set of failing parts or warnings changes. */
function openReporter(logger: Logger): (status: ServiceStatus) => void {
  const startedAt = performance.now();
  let wasReady = false;
  let reported = "";
  return ({ ready, failing, warnings }) => {
    wasReady ||= ready;
    if (!wasReady && performance.now() - startedAt < startMs) return;
    const parts = [
      ...failing.map(({ part }) => part),
      ...warnings.map((one) => ("part" in one ? one.part : one.endpoint) + one.kind),
    ];
    const names = parts.sort().join(", ");
    if (names === reported) return;
    reported = names;
    if (names === "") logger.info("every part is current");
    else logger.warn({ failing, warnings }, ready ? "ready, with warnings" : "not ready");
  };
}

/** A lag of this many facts counts as caught up on the first check. */
const closeEnoughPositions = 200;

/** Checks how the projections follow the log. Each of `names` must have a checkpoint. */
function openProjectionStatus(names: readonly string[], lateSeconds: number) {
  const followers = new Map<string, TrackedFollower>();

  return async (db: Database, now: number): Promise<Findings<ProjectionStatus[]>> => {
    const progress = await readProjectionProgress(db);
    const failing: FailingPart[] = names
      .filter((name) => !progress.some(({ projection }) => projection === name))
      .map((name) => ({ part: `projection ${name}`, message: "has not begun" }));
    const followed = progress.map((one) => {
      const follower = followers.get(one.projection) ?? trackFollower(closeEnoughPositions);
      followers.set(one.projection, follower);
      return { one, lag: follower(Number(one.head), Number(one.position), now) };
    });
    for (const { one, lag } of followed) {
      // A rebuild in a shadow schema has a checkpoint too, and nothing waits for it.
      if (!names.includes(one.projection)) continue;
      if (!lag.caughtUp || lag.seconds > lateSeconds) failing.push(late(one, lag));
    }
    const excluded = await readExcludedFacts(db);
    const warnings = excluded.filter(({ projection }) => names.includes(projection)).map(warningOf);
    return { status: followed.map(({ one, lag }) => present(one, lag)), failing, warnings };
  };
}

function warningOf(one: ExcludedFacts): ExclusionWarning {
  const part = `projection ${one.projection}`;
  const message = `${describeExcludedFacts(one)}: \`npm run op -- quarantine list\` shows them`;
  return { part, kind: "facts_excluded", message, ...one };
}

function late({ projection }: ProjectionProgress, { behind, seconds, caughtUp }: Lag): FailingPart {
  const message = caughtUp ? "does not follow the log" : "is catching up";
  return {
    part: `projection ${projection}`,
    message: `${message}: ${behind} facts behind`,
    behind: { positions: behind, seconds },
  };
}

/** Late since a missing fact was seen in the log: its own time may be that of an hour long past, of a price for one. */
function present(one: ProjectionProgress, { behind, seconds }: Lag): ProjectionStatus {
  return {
    name: one.projection,
    version: one.version,
    position: Number(one.position),
    lag: behind,
    lagSeconds: seconds,
  };
}

import type { Logger } from "pino";
import { type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { openSwitch } from "#projections/log/operators.ts";
import type { Counter, Limiter } from "#api/http/limit.ts";
import { deleteExpiredAccess } from "./delete-expired.ts";
import { type InstantKeys, openInstantKeys } from "./instant-keys.ts";
import { type KeyUse, openLimiter } from "./limiter.ts";
import { type OwnKeys, openOwnKeys } from "./own-key.ts";
import { openRequestLog } from "./request-log.ts";
import { openUsage } from "./usage.ts";

export type Access = {
  readonly limiter: Limiter & Counter;
  readonly instantKeys: InstantKeys;
  readonly ownKeys: OwnKeys;
  /** Writes pending usage and closes the connections. */
  close(): Promise<void>;
};

/** The settings that keys and limits need. Limits are requests per minute; 0: unlimited. */
type AccessConfig = {
  readonly database: { readonly requests: DatabaseAddress };
  readonly http: { readonly baseUrl: string };
  readonly access: {
    readonly limits: {
      readonly keyless: number;
      readonly instant: number;
      readonly permanent: number;
    };
    readonly instantKeys: boolean;
  };
};

type AccessOptions = {
  readonly config: AccessConfig;
  readonly logger: Logger;
  /** Called for every request admitted with a key. */
  readonly onUse: (use: KeyUse) => void;
};

const writeMs = 10_000;
const sweepMs = 60_000;

/** Keys and limits of one API process, on connections of their own so that slow reads do not delay counting. */
export function openAccess({ config, logger, onUse }: AccessOptions): Access {
  const { limits, instantKeys } = config.access;
  const db = openDatabase({
    ...config.database.requests,
    applicationName: "api access",
    max: 4,
    statementTimeoutMs: 2_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const usage = openUsage(db);
  const warn = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  const requests = openRequestLog(db);
  const write = async () => {
    await usage.flush().catch(warn("key usage flush failed"));
    await requests.flush().catch(warn("request log flush failed"));
  };
  const sweep = () => deleteExpiredAccess(db, new Date()).catch(warn("access cleanup failed"));
  const timers = [setInterval(write, writeMs), setInterval(sweep, sweepMs)];
  return {
    limiter: openLimiter({
      db,
      limits,
      logger,
      onAnswer: requests.add,
      onUse(use) {
        usage.onUse(use);
        onUse(use);
      },
    }),
    instantKeys: openInstantKeys({
      db,
      requestsPerMinute: limits.instant,
      docs: `${config.http.baseUrl}/docs`,
      isPaused: openSwitch(db, "instant-keys", !instantKeys),
    }),
    ownKeys: openOwnKeys(db, limits),
    async close() {
      for (const timer of timers) clearInterval(timer);
      await write();
      await db.destroy();
    },
  };
}

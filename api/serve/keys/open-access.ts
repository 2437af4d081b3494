import type { Logger } from "pino";
import { openDatabase } from "../../../projections/database.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import type { Counter, Limiter } from "../http/limit.ts";
import { deleteExpiredAccess } from "./delete-expired.ts";
import { type InstantKeys, openInstantKeys } from "./instant-keys.ts";
import { openLimiter } from "./limiter.ts";
import { openUsage } from "./usage.ts";

export type Access = {
  readonly limiter: Limiter & Counter;
  readonly instantKeys: InstantKeys;
  /** Writes pending usage and closes the connections. */
  close(): Promise<void>;
};

/** The settings that keys and limits need. Limits are requests per minute; 0: unlimited. */
export type AccessConfig = {
  readonly database: { readonly url: string };
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

const writeMs = 10_000;
const sweepMs = 60_000;

/** Keys and limits of one API process, on connections of their own so that slow reads do not delay counting. */
export function openAccess({ config, logger }: { config: AccessConfig; logger: Logger }): Access {
  const { limits, instantKeys } = config.access;
  const db = openDatabase({
    url: config.database.url,
    applicationName: "api access",
    max: 4,
    statementTimeoutMs: 2_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const usage = openUsage(db);
  const warn = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  const write = () => usage.flush().catch(warn("key usage flush failed"));
  const sweep = () => deleteExpiredAccess(db).catch(warn("access cleanup failed"));
  const timers = [setInterval(write, writeMs), setInterval(sweep, sweepMs)];
  return {
    limiter: openLimiter({ db, limits, logger, onUse: usage.onUse }),
    instantKeys: openInstantKeys({
      db,
      requestsPerMinute: limits.instant,
      docs: `${config.http.baseUrl}/docs`,
      isPaused: openSwitch(db, "instant-keys", !instantKeys),
    }),
    async close() {
      for (const timer of timers) clearInterval(timer);
      await write();
      await db.destroy();
    },
  };
}

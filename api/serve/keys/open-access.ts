import type { Logger } from "pino";
import { openDatabase } from "../../../projections/database.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import type { RoleConfig } from "../../run/roles/role.ts";
import type { Counter, Limiter } from "../http/limit.ts";
import { type InstantKeys, openInstantKeys } from "./instant-keys.ts";
import { openLimiter } from "./limiter.ts";
import { sweepAccess } from "./sweep.ts";
import { openUsage } from "./usage.ts";

export type Access = {
  readonly limiter: Limiter & Counter;
  readonly instantKeys: InstantKeys;
  /** Writes down what is not written yet. */
  close(): Promise<void>;
};

const writeMs = 10_000;
const sweepMs = 60_000;

/** Keys and limits of one API process, over connections of their own: slow reads do not keep callers uncounted. */
export function openAccess({ config, logger }: { config: RoleConfig; logger: Logger }): Access {
  const { limits, instantKeys } = config.access;
  const db = openDatabase({
    url: config.database.url,
    applicationName: "api access",
    max: 4,
    statementTimeoutMs: 2_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
  const usage = openUsage(db);
  const tell = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  const write = () => usage.flush().catch(tell("the use of keys cannot be written down"));
  const sweep = () => sweepAccess(db).catch(tell("what is over cannot be swept"));
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

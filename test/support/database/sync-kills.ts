import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { syncClickhouse } from "#jobs/analytics/sync-clickhouse.ts";
import { startOp } from "../processes/op.ts";
import type { Clickhouse } from "./clickhouse.ts";
import { environmentOf } from "./operator.ts";
import type { TestDatabase } from "./postgres.ts";

/** Syncs, and what ends them on their way. Each resolves with whether it met a sync. */
export function openSyncKills({ db, url }: TestDatabase, clickhouse: Clickhouse) {
  const clickhouseUrl = clickhouse.url;
  const sync = () => syncClickhouse({ clickhouseUrl, db, url, readUrl: null });

  /** A sync by the operator's command, whose process is killed. */
  const killCommand = async (ms: number) => {
    const environment = { ...environmentOf(url), ANALYTICS_CLICKHOUSE_URL: clickhouseUrl };
    const child = startOp(environment, ["analytics", "sync"]);
    const gone = once(child, "exit");
    // The process first loads its program.
    await Promise.race([gone, delay(500 + ms)]);
    const isRunning = child.exitCode === null;
    child.kill("SIGKILL");
    await gone;
    return isRunning;
  };

  /** A sync during which something it depends on goes away. */
  const syncDuring = async (ms: number, kill: () => Promise<unknown>) => {
    const syncing = sync().then(
      () => false,
      () => true,
    );
    await Promise.race([syncing, delay(ms)]);
    await kill();
    return await syncing;
  };

  const killReader = (ms: number) =>
    syncDuring(ms, () =>
      sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'analytics sync' and datname = current_database()`.execute(db),
    );

  /** Kills the server; it is started again when the sync has ended. */
  const killServer = async (ms: number) => {
    const failed = await syncDuring(ms, clickhouse.kill);
    await clickhouse.start();
    return failed;
  };
  return { sync, kills: [killCommand, killServer, killReader] };
}

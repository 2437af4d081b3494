import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type EngineName, placeOf, syncEngine } from "../../../api/background/analytics/engines.ts";
import { mainCell } from "../../../api/background/analytics/views.ts";
import { startOp } from "../processes/op.ts";
import { clickhouseEngine, duckdbEngine, type Engine } from "./analytics-engines.ts";
import type { Clickhouse } from "./clickhouse.ts";
import { environmentOf } from "./operator.ts";
import type { TestDatabase } from "./postgres.ts";

/** What is copied, and where to. */
type Copied = {
  readonly name: string;
  readonly database: TestDatabase;
};

/** Databases that are copied to one place of each engine; the first is the main one. */
type Copying = {
  readonly clickhouse: Clickhouse;
  readonly duckdbFile: string;
  readonly cells: readonly [Copied, ...Copied[]];
};

/** Syncs, and what ends them on their way. Each resolves with whether it met a sync. */
export function openSyncKills({ clickhouse, duckdbFile, cells: [main, ...others] }: Copying) {
  const places = { clickhouseUrl: clickhouse.url, duckdbFile };
  const sync = (
    engine: EngineName,
    { name, database }: Copied = main,
    options: { isAnew?: boolean } = {},
  ) =>
    syncEngine({
      ...options,
      engine,
      place: placeOf(engine, places) ?? "",
      cell: name,
      db: database.db,
      readUrl: database.url,
      lockUrl: main.database.url,
    });

  /** A sync by the operator's command, whose process is killed. */
  const killCommand = async (engine: EngineName, ms: number, { name }: Copied) => {
    const environment = {
      ...environmentOf(main.database.url),
      ...Object.fromEntries(others.map((one) => [`DATABASE_URL_${one.name}`, one.database.url])),
      ANALYTICS_CLICKHOUSE_URL: clickhouse.url,
      ANALYTICS_DUCKDB_FILE: duckdbFile,
    };
    const child = startOp(environment, [
      ...(name === mainCell ? [] : ["--cell", name]),
      ...["analytics", "sync", "--to", engine],
    ]);
    const gone = once(child, "exit");
    // The process first loads its program.
    await Promise.race([gone, delay(500 + ms)]);
    const isRunning = child.exitCode === null;
    child.kill("SIGKILL");
    await gone;
    return isRunning;
  };

  /** A sync during which something it depends on goes away. */
  const syncDuring = async (
    engine: EngineName,
    ms: number,
    cell: Copied,
    kill: () => Promise<unknown>,
  ) => {
    const syncing = sync(engine, cell).then(
      () => false,
      () => true,
    );
    await Promise.race([syncing, delay(ms)]);
    await kill();
    return await syncing;
  };

  const killReader = (engine: EngineName, ms: number, cell: Copied) =>
    syncDuring(engine, ms, cell, () =>
      sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'analytics sync' and datname = current_database()`.execute(
        cell.database.db,
      ),
    );

  /** Kills the server; it is started again when the sync has ended. */
  const killServer = async (engine: EngineName, ms: number, cell: Copied) => {
    const failed = await syncDuring(engine, ms, cell, clickhouse.kill);
    await clickhouse.start();
    return failed;
  };

  type Kill = (engine: EngineName, ms: number, cell: Copied) => Promise<boolean>;
  const kills: Record<EngineName, Kill[]> = {
    clickhouse: [killCommand, killServer, killReader],
    duckdb: [killCommand, killReader],
  };
  const engineOf = (engine: EngineName): Engine =>
    engine === "duckdb" ? duckdbEngine(duckdbFile) : clickhouseEngine(clickhouse.url);
  return { sync, kills, engineOf };
}

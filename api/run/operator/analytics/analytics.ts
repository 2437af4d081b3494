import { Argument, type Command, Option } from "commander";
import { isLockHeld } from "../../../../projections/named-lock.ts";
import {
  forgetEngine,
  readEngineProgress,
} from "../../../../projections/reads/analytics/capture/engine-progress.ts";
import {
  type EngineName,
  engineNames,
  placeOf,
  syncEngine,
  usedEngines,
} from "../../../background/analytics/engines.ts";
import { mainCell } from "../../../background/analytics/views.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print, tableLines } from "../cli/output.ts";
import { openProgress } from "../cli/progress.ts";

type Json = { json?: boolean };
type SyncCommand = Json & { to: EngineName; anew?: boolean };

/** `op analytics sync`, `op analytics status` and `op analytics forget` */
export function addAnalytics(program: Command): void {
  const analytics = program
    .command("analytics")
    .description("copies of the facts and analytics views in ClickHouse or DuckDB");
  analytics
    .command("sync")
    .description("copy what is new, up to the position of the projections")
    .addOption(
      new Option("--to <engine>", "engine, at the place that the settings name")
        .choices([...engineNames])
        .makeOptionMandatory(),
    )
    .option("--anew", "drop the copy first")
    .option("--json", "print JSON")
    .exitOverride()
    .action(syncOnce);
  analytics
    .command("status")
    .description("how far each copy is")
    .option("--json", "print JSON")
    .exitOverride()
    .action(status);
  analytics
    .command("forget")
    .description("forget an engine that is no longer used: its metrics and their alert end")
    .addArgument(
      new Argument("<engine>", "engine whose setting was removed").choices([...engineNames]),
    )
    .option("--json", "print JSON")
    .exitOverride()
    .action(forget);
}

const settings = { clickhouse: "ANALYTICS_CLICKHOUSE_URL", duckdb: "ANALYTICS_DUCKDB_FILE" };

async function syncOnce({ to: engine, anew: isAnew = false, json }: SyncCommand): Promise<void> {
  await withDatabase("analytics sync", async ({ db, config, url }) => {
    const place = placeOf(engine, config.analytics);
    if (place === null) throw new Error(`${settings[engine]} is not set: it says where to copy to`);
    const progress = json ? null : openProgress("copying facts");
    const onProgress = ({ position, head }: { position: bigint; head: bigint }) =>
      progress?.report({
        task: engine,
        done: Number(position),
        total: Number(head),
        unit: "facts",
      });
    try {
      const done = await syncEngine({
        engine,
        place,
        cell: mainCell,
        db,
        lockUrl: url,
        isAnew,
        onProgress,
        readUrl: config.analytics.readUrl ?? url,
      });
      progress?.end();
      print(json, { engine, ...done }, [
        `${engine} is at position ${done.position}, with ${done.facts} more facts`,
      ]);
    } catch (error) {
      progress?.end();
      if (!isLockHeld(error)) throw error;
      throw new Error(`another process syncs ${engine} now`, { cause: error });
    }
  });
}

async function status({ json }: Json): Promise<void> {
  await withDatabase("analytics status", async ({ db, config }) => {
    const used = usedEngines(config.analytics);
    const engines = await readEngineProgress(db);
    const rows = engines.map((one) => [
      one.engine,
      `${one.position}`,
      `${one.behind}`,
      one.syncedAt?.toISOString() ?? "never",
      used.some((name) => name === one.engine)
        ? `every ${config.analytics.intervalSeconds} s`
        : "by hand",
      one.error ?? "",
    ]);
    const lines = tableLines([
      ["engine", "position", "behind", "synced", "runs", "error"],
      ...rows,
    ]);
    const told = engines.length === 0 ? ["no engine was synced yet"] : lines;
    print(json, engines, told);
  });
}

async function forget(engine: EngineName, { json }: Json): Promise<void> {
  await withDatabase("analytics forget", async ({ db, config }) => {
    if (placeOf(engine, config.analytics) !== null) {
      const advice = "remove it and restart the jobs first, or they sync the engine again";
      throw new Error(`${settings[engine]} is set: ${advice}`);
    }
    const isForgotten = await forgetEngine(db, engine);
    const line = isForgotten ? `${engine} is forgotten` : `${engine} was not known`;
    print(json, { engine, isForgotten }, [line]);
  });
}

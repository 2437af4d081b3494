import { type Database, openDatabase } from "../../../projections/database.ts";
import { syncingAlone } from "../../../projections/reads/analytics/capture/engine-progress.ts";
import { openClickhouseSink } from "./clickhouse/clickhouse-sink.ts";
import { openDuckdb } from "./duckdb/duckdb-sink.ts";
import type { Sink } from "./sink.ts";
import { type SyncOptions, type SyncResult, sync } from "./sync.ts";

export const engineNames = ["clickhouse", "duckdb"] as const;
export type EngineName = (typeof engineNames)[number];

/** Where each engine is; null: it is not used. */
export type EnginePlaces = { clickhouseUrl: string | null; duckdbFile: string | null };

/** Engines that are used. */
export const usedEngines = (places: EnginePlaces): EngineName[] =>
  engineNames.filter((engine) => placeOf(engine, places) !== null);

export const placeOf = (engine: EngineName, { clickhouseUrl, duckdbFile }: EnginePlaces) =>
  engine === "clickhouse" ? clickhouseUrl : duckdbFile;

const openEngine = async ({ engine, place, cell, signal }: Opening): Promise<Sink> =>
  engine === "clickhouse"
    ? openClickhouseSink(place, cell, signal && { signal })
    : await openDuckdb(place, cell);

type Opening = Pick<Syncing, "engine" | "place" | "cell" | "signal">;

type Syncing = SyncOptions & {
  engine: EngineName;
  place: string;
  /** The log that is copied: its name in the engine, its database, and where it is read. */
  cell: string;
  db: Database;
  readUrl: string;
  /** The main cell's database, which has the locks of engines. */
  lockUrl: string;
};

/** Opens an engine, syncs it and closes it. Fails with `isLockHeld` while another process does. */
export async function syncEngine({
  engine,
  place,
  cell,
  db,
  readUrl,
  lockUrl,
  ...options
}: Syncing): Promise<SyncResult> {
  const lockDb = openDatabase({
    url: lockUrl,
    applicationName: "analytics sync lock",
    max: 1,
    onIdleError: () => {},
  });
  try {
    return await syncingAlone({ db, lockDb }, engine, async () => {
      const sink = await openEngine({ engine, place, cell, ...options });
      try {
        const result = await sync(readUrl, sink, options);
        await sink.compact();
        return result;
      } finally {
        await sink.close();
      }
    });
  } finally {
    await lockDb.destroy();
  }
}

import type { Database } from "../../../projections/database.ts";
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

const openEngine = async (engine: EngineName, place: string): Promise<Sink> =>
  engine === "clickhouse" ? openClickhouseSink(place) : await openDuckdb(place);

type Syncing = SyncOptions & { engine: EngineName; place: string; db: Database; readUrl: string };

/** Opens an engine, syncs it and closes it. Fails with `isLockHeld` while another process does. */
export async function syncEngine({
  engine,
  place,
  db,
  readUrl,
  ...options
}: Syncing): Promise<SyncResult> {
  return await syncingAlone(db, engine, async () => {
    const sink = await openEngine(engine, place);
    try {
      const result = await sync(readUrl, sink, options);
      await sink.compact();
      return result;
    } finally {
      await sink.close();
    }
  });
}

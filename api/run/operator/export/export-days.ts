import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "#projections/log/database.ts";
import { readPosition, type Column, datasets, readInSnapshot, type RowsFilter, readColumns, readRowsIn } from "#projections/analytics/read-rows.ts";
import { type DayFile, openDayFiles } from "./day-files.ts";

const manifestName = "manifest.json";
const dayMs = 86_400_000;

/** What the files of a directory are, for whoever reads them. */
type Manifest = {
  dataset: string;
  format: "parquet";
  /** The position of the projections that the last export was made at; each file has its own. */
  position: string;
  exportedAt: string;
  columns: readonly Column[];
  files: DayFile[];
};

/**
 * Writes the rows of one snapshot to a file for each day and chain, `chain_id=…/day=….parquet`, and then the manifest,
 * which names them all. A file that is as it was is not written again; one of a day that has no row any more is removed.
 * Interrupted, it leaves the former manifest, and files of which some are newer than that. Returns the rows too.
 */
export async function exportDays(
  db: Database,
  requested: RowsFilter,
  directory: string,
  onRows: (rows: number) => void,
): Promise<Manifest> {
  const filter = wholeDays(requested);
  const { dataset } = filter;
  const before = await readManifest(directory);
  if (before !== null && before.dataset !== dataset)
    throw new Error(`${directory} holds ${before.dataset}: export ${dataset} to another directory`);
  const manifest = await readInSnapshot(db, async (session): Promise<Manifest> => {
    const columns = await readColumns(session, dataset);
    const position = `${await readPosition(session)}`;
    const files = openDayFiles({ directory, columns, time: datasets[dataset].time, position });
    try {
      await readRowsIn(session, filter, columns, async (rows) => {
        for (const row of rows) await files.write(row);
        onRows(rows.length);
      });
      const written = await files.end();
      const kept = (before?.files ?? []).filter((file) => !isWithin(file, filter));
      const all = [...kept, ...written].sort((a, b) => (a.path < b.path ? -1 : 1));
      const exportedAt = new Date().toISOString();
      return { dataset, format: "parquet", position, exportedAt, columns, files: all };
    } finally {
      await files.abandon();
    }
  });
  await writeManifest(directory, manifest);
  const named = new Set(manifest.files.map(({ path }) => path));
  for (const { path } of before?.files ?? [])
    if (!named.has(path)) await rm(join(directory, path), { force: true });
  return manifest;
}

/** The days that a filter touches. */
function wholeDays({ since, until, ...filter }: RowsFilter): RowsFilter {
  const rounded = (date: Date, round: (days: number) => number) =>
    new Date(round(date.getTime() / dayMs) * dayMs);
  return {
    ...filter,
    since: since && rounded(since, Math.floor),
    until: until && rounded(until, Math.ceil),
  };
}

function isWithin({ chainId, day }: DayFile, filter: RowsFilter): boolean {
  const start = Date.parse(`${day}T00:00:00Z`);
  return (
    (filter.chain === null || filter.chain === chainId) &&
    (filter.since === null || start >= filter.since.getTime()) &&
    (filter.until === null || start < filter.until.getTime())
  );
}

async function readManifest(directory: string): Promise<Manifest | null> {
  const text = await readFile(join(directory, manifestName), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Manifest);
}

/** Whole or not at all. */
async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const path = join(directory, manifestName);
  await writeFile(`${path}.part`, `${JSON.stringify(manifest, null, 2)}\n`);
  await rename(`${path}.part`, path);
}

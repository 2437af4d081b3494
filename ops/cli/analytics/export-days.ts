import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  type FileHandle,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { type RowsWriter, writeParquet } from "#projections/analytics/parquet.ts";
import {
  datasets,
  type ExportColumn,
  type RowsFilter,
  readColumns,
  readInSnapshot,
  readPosition,
  readRowsIn,
  type TextRow,
} from "#projections/analytics/read-rows.ts";
import type { Database } from "#projections/log/database.ts";

const manifestName = "manifest.json";
const dayMs = 86_400_000;

/** What the files of a directory are, for whoever reads them. */
type Manifest = {
  dataset: string;
  format: "parquet";
  /** The position of the projections that the last export was made at; each file has its own. */
  position: string;
  exportedAt: string;
  columns: readonly ExportColumn[];
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

/** A file with the rows of a chain's day (UTC). */
type DayFile = {
  chainId: number;
  day: string;
  /** Below the directory of the manifest. */
  path: string;
  rows: number;
  bytes: number;
  sha256: string;
  /** The position of the projections that it was made at. */
  position: string;
};

/** Files by chain and day, for rows that come in the order of their days. */
type DayFiles = {
  write(row: TextRow): Promise<void>;
  end(): Promise<DayFile[]>;
  /** Removes what is not finished. */
  abandon(): Promise<void>;
};

type Options = {
  directory: string;
  columns: readonly ExportColumn[];
  /** The column that says a row's day. */
  time: string;
  position: string;
};

type OpenFile = {
  day: string;
  writer: RowsWriter;
  rows: number;
  finish(): Promise<DayFile>;
  drop(): Promise<void>;
};

function openDayFiles({ directory, columns, time, position }: Options): DayFiles {
  const chainAt = columns.findIndex(({ name }) => name === "chain_id");
  const timeAt = columns.findIndex(({ name }) => name === time);
  const opened = new Map<number, OpenFile>();
  const finished: DayFile[] = [];
  const finish = async (chainId: number) => {
    const file = opened.get(chainId);
    if (file === undefined) return;
    finished.push(await file.finish());
    opened.delete(chainId);
  };
  return {
    async write(row) {
      const chainId = Number(row[chainAt]);
      const day = (row[timeAt] ?? "").slice(0, 10);
      if (opened.get(chainId)?.day !== day) {
        await finish(chainId);
        opened.set(chainId, await openDayFile({ directory, columns, position, chainId, day }));
      }
      const file = opened.get(chainId);
      if (file === undefined) return;
      file.rows += 1;
      await file.writer.write([row]);
    },
    async end() {
      for (const chainId of [...opened.keys()]) await finish(chainId);
      return finished;
    },
    async abandon() {
      for (const file of opened.values()) await file.drop();
    },
  };
}

type OneDay = Omit<Options, "time"> & { chainId: number; day: string };

async function openDayFile({
  directory,
  columns,
  position,
  chainId,
  day,
}: OneDay): Promise<OpenFile> {
  const path = `chain_id=${chainId}/day=${day}.parquet`;
  const place = join(directory, path);
  const part = `${place}.${process.pid}.part`;
  await mkdir(dirname(place), { recursive: true });
  const handle = await open(part, "w");
  const digest = createHash("sha256");
  let bytes = 0;
  const writer = writeParquet(columns, async (content) => {
    digest.update(content);
    bytes += content.length;
    // All of it: a single write may be short where the disk is full.
    await handle.writeFile(content);
  });
  const file: OpenFile = {
    day,
    writer,
    rows: 0,
    async finish() {
      await writer.end();
      const sha256 = digest.digest("hex");
      await closeWhole(handle, part, place, sha256);
      return { chainId, day, path, rows: file.rows, bytes, sha256, position };
    },
    async drop() {
      await handle.close();
      await rm(part, { force: true });
    },
  };
  return file;
}

/** The file appears when it is complete, unless it is there already as it is. */
async function closeWhole(handle: FileHandle, part: string, place: string, sha256: string) {
  await handle.sync();
  await handle.close();
  if ((await digestOf(place)) === sha256) await rm(part);
  else await rename(part, place);
}

async function digestOf(path: string): Promise<string | null> {
  if ((await stat(path).catch(() => null)) === null) return null;
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(path)) digest.update(chunk);
  return digest.digest("hex");
}

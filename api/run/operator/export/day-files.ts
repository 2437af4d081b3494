import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Column, TextRow } from "#projections/analytics/read-rows.ts";
import { writeParquet } from "./parquet.ts";
import type { RowsWriter } from "./rows-writer.ts";

/** A file with the rows of a chain's day (UTC). */
export type DayFile = {
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
export type DayFiles = {
  write(row: TextRow): Promise<void>;
  end(): Promise<DayFile[]>;
  /** Removes what is not finished. */
  abandon(): Promise<void>;
};

type Options = {
  directory: string;
  columns: readonly Column[];
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

export function openDayFiles({ directory, columns, time, position }: Options): DayFiles {
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

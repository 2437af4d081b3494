import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { stringify } from "#ops/reports/present-fact.ts";
import { bindViewsIfStale } from "#projections/analytics/bind-views.ts";
import { type RowsWriter, writeParquet } from "#projections/analytics/parquet.ts";
import {
  type Dataset,
  datasets,
  type ExportColumn,
  type RowsFilter,
  readColumns,
  readRows,
  type TextRow,
} from "#projections/analytics/read-rows.ts";
import { csvLines } from "#projections/domain/csv-lines.ts";
import type { Database } from "#projections/log/database.ts";
import { parseChain } from "../arguments.ts";
import { withDatabase } from "../open-database.ts";
import { openProgress } from "../output.ts";
import { exportDays } from "./export-days.ts";

/** Rows as RFC 4180 has them, below a line of the columns' names. */
function writeCsv(
  columns: readonly ExportColumn[],
  put: (text: string) => Promise<void>,
): RowsWriter {
  let head = csvLines([columns.map(({ name }) => name)]);
  const write = async (rows: Parameters<typeof csvLines>[0]) => {
    const lines = head + csvLines(rows);
    head = "";
    await put(lines);
  };
  return { write, end: () => write([]) };
}

const formats = { csv: writeCsv, parquet: writeParquet } as const;
type Format = keyof typeof formats;

type Options = {
  format: Format;
  since?: Date;
  until?: Date;
  chain?: number;
  out?: string;
  byDay?: string;
};
type ExportOptions = Options & { json?: boolean };

/** `op export sales|transfers|listings|bids|floors` */
export function addExport(program: Command): void {
  program
    .command("export")
    .description("write rows of the analytics views, from one snapshot, oldest first")
    .addArgument(new Argument("<what>").choices(Object.keys(datasets)))
    .addOption(new Option("--format <format>").choices(Object.keys(formats)).default("csv"))
    .option(
      "--since <time>",
      "first time, for example 2026-01-31 or 2026-01-31T12:00:00Z",
      parseTime,
    )
    .option("--until <time>", "end time, exclusive", parseTime)
    .option("--chain <id>", "only this chain", parseChain)
    .option("--out <file>", "output file; it appears when it is complete")
    .option(
      "--by-day <directory>",
      "write a Parquet file for each chain and day (UTC), and a manifest of them",
    )
    .option("--json", "print the final count as JSON")
    .action(exportRows);
}

function parseTime(text: string): Date {
  const shape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
  const date = new Date(shape.test(text) ? text : Number.NaN);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError("expected a date or a time, for example 2026-01-31T12:00:00Z");
}

async function exportRows(dataset: Dataset, options: ExportOptions): Promise<void> {
  const { format, since = null, until = null, chain = null, out, byDay, json } = options;
  if (byDay !== undefined && out !== undefined)
    throw new InvalidArgumentError("--by-day writes its own files: leave out --out");
  await withDatabase(`export ${dataset}`, async ({ db }) => {
    const filter = { dataset, format, chain, since, until };
    await db.transaction().execute(bindViewsIfStale);
    if (byDay !== undefined) return await exportByDay(db, filter, byDay, json);
    const rows =
      out === undefined
        ? await write(db, filter, process.stdout)
        : await writeFile(db, filter, out);
    const place = out === undefined ? "" : ` in ${out}`;
    process.stderr.write(json ? `${stringify({ rows })}\n` : `${rows} rows${place}\n`);
  });
}

async function exportByDay(
  db: Database,
  filter: RowsFilter,
  directory: string,
  json = false,
): Promise<void> {
  const progress = openProgress("exporting");
  let rows = 0;
  const onRows = (more: number) => {
    rows += more;
    progress.report({ task: filter.dataset, done: rows, total: null, unit: "rows" });
  };
  const exported = exportDays(db, filter, directory, onRows);
  const { files, position } = await exported.finally(() => progress.end());
  const text = json
    ? stringify({ rows, files: files.length, position })
    : `${rows} rows in ${directory}, which has ${files.length} files, at position ${position}`;
  process.stderr.write(`${text}\n`);
}

type ExportRequest = RowsFilter & { format: Format };

/** Writes to a temporary file first: an interrupted export leaves an existing file unchanged. */
async function writeFile(db: Database, request: ExportRequest, path: string): Promise<number> {
  const part = `${path}.${process.pid}.part`;
  const file = createWriteStream(part);
  try {
    const rows = await write(db, request, file);
    file.end();
    await finished(file);
    await rename(part, path);
    return rows;
  } finally {
    file.destroy();
    await rm(part, { force: true });
  }
}

async function write(
  db: Database,
  { format, ...filter }: ExportRequest,
  to: Writable,
): Promise<number> {
  const failed = new Promise<never>((_, fail) => to.once("error", fail));
  failed.catch(() => {});
  // Waits while the output buffer is full, so that no more than one page is in memory.
  const put = async (content: string | Uint8Array) => {
    if (!to.write(content)) await Promise.race([once(to, "drain"), failed]);
  };
  const columns = await readColumns(db, filter.dataset);
  const writer = formats[format](columns, put);
  // On a terminal that shows the rows themselves a progress line would be mixed into them.
  const progress = to === process.stdout && process.stdout.isTTY ? null : openProgress("exporting");
  let done = 0;
  const writeRows = async (rows: readonly TextRow[]) => {
    done += rows.length;
    progress?.report({ task: filter.dataset, done, total: null, unit: "rows" });
    await writer.write(rows);
  };
  const rows = await readRows(db, filter, columns, writeRows).finally(() => progress?.end());
  await writer.end();
  return rows;
}

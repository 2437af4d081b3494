import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { chainIds } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import { bindViewsIfStale } from "../../../../projections/reads/analytics/bind-views.ts";
import {
  type Dataset,
  datasets,
  type RowsFilter,
  readColumns,
  readRows,
} from "../../../../projections/reads/analytics/read-rows.ts";
import { withDatabase } from "../cli/open-database.ts";
import { stringify } from "../cli/output.ts";
import { writeCsv } from "./csv.ts";
import { writeParquet } from "./parquet.ts";

const formats = { csv: writeCsv, parquet: writeParquet } as const;
type Format = keyof typeof formats;

type Options = { format: Format; since?: Date; until?: Date; chain?: number; out?: string };
type ExportOptions = Options & { json?: boolean };

/** `op export sales|transfers|listings` */
export function addExport(program: Command): void {
  program
    .command("export")
    .description("write rows as the analysts' views have them, of one moment, oldest first")
    .addArgument(new Argument("<what>").choices(Object.keys(datasets)))
    .addOption(new Option("--format <format>").choices(Object.keys(formats)).default("csv"))
    .option("--since <time>", "from then on, as 2026-01-31 or 2026-01-31T12:00:00Z", parseTime)
    .option("--until <time>", "up to then, exclusive", parseTime)
    .option("--chain <id>", "of this chain alone", parseChain)
    .option("--out <file>", "into a file, which is there when it is whole")
    .option("--json", "the closing count for machines")
    .exitOverride()
    .action(exportRows);
}

function parseTime(text: string): Date {
  const shape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;
  const date = new Date(shape.test(text) ? text : Number.NaN);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError("expected a day or a time, as 2026-01-31T12:00:00Z");
}

function parseChain(text: string): number {
  const chain = chainIds.find((one) => `${one}` === text);
  if (chain !== undefined) return chain;
  throw new InvalidArgumentError(`expected ${chainIds.join(" or ")}`);
}

async function exportRows(dataset: Dataset, options: ExportOptions): Promise<void> {
  const { format, since = null, until = null, chain = null, out, json } = options;
  const filter = { dataset, format, chainId: chain, since, until };
  await withDatabase(`export ${dataset}`, async ({ db }) => {
    await db.transaction().execute(bindViewsIfStale);
    const rows =
      out === undefined
        ? await write(db, filter, process.stdout)
        : await writeFile(db, filter, out);
    const place = out === undefined ? "" : ` in ${out}`;
    process.stderr.write(json ? `${stringify({ rows })}\n` : `${rows} rows${place}\n`);
  });
}

type Asked = RowsFilter & { format: Format };

/** A file that was begun and not finished leaves the one before as it is. */
async function writeFile(db: Database, asked: Asked, path: string): Promise<number> {
  const part = `${path}.${process.pid}.part`;
  const file = createWriteStream(part);
  try {
    const rows = await write(db, asked, file);
    file.end();
    await finished(file);
    await rename(part, path);
    return rows;
  } finally {
    file.destroy();
    await rm(part, { force: true });
  }
}

async function write(db: Database, { format, ...filter }: Asked, to: Writable): Promise<number> {
  const failed = new Promise<never>((_, fail) => to.once("error", fail));
  failed.catch(() => {});
  // What is not taken away yet is waited for, so that no more than a page is held.
  const put = async (content: string | Uint8Array) => {
    if (!to.write(content)) await Promise.race([once(to, "drain"), failed]);
  };
  const columns = await readColumns(db, filter.dataset);
  const writer = formats[format](columns, put);
  const rows = await readRows(db, filter, columns, writer.write);
  await writer.end();
  return rows;
}

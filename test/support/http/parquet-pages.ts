import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { askDuckdb } from "#test/support/database/analytics-engines.ts";

type Row = Readonly<Record<string, unknown>>;

/** Rows of a list as DuckDB reads them in its Parquet files, of which each leads to the next. */
export async function readParquetPages(url: string): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), "pages-"));
  const paths: string[] = [];
  for (let next: string | undefined = url; next !== undefined; ) {
    const file: Response = await fetch(next);
    expect([next, file.status]).toEqual([next, 200]);
    expect(file.headers.get("content-type")).toBe("application/vnd.apache.parquet");
    const path = join(folder, `${paths.length}.parquet`);
    await writeFile(path, Buffer.from(await file.arrayBuffer()));
    paths.push(path);
    const [, link] = /<([^>]+)>; rel="next"/.exec(file.headers.get("link") ?? "") ?? [];
    // By the API's public address.
    const { pathname, search } = new URL(link ?? url, url);
    next = link && new URL(pathname + search, url).href;
  }
  const read = await askDuckdb(`from read_parquet(['${paths.join("', '")}'])`);
  await rm(folder, { recursive: true });
  return read;
}

/** Rows of JSON as a file has them: lists are text. */
export const asFileRows = (rows: readonly Row[]) =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        Array.isArray(value) ? JSON.stringify(value) : value,
      ]),
    ),
  );

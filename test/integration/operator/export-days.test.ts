import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "#ops/programs.ts";
import type { Target } from "#projections/engine/checkpoint.ts";
import { askDuckdb } from "#test/support/database/analytics-engines.ts";
import { project } from "#test/support/database/given.ts";
import {
  appendTrades,
  environmentOf,
  operate,
  prepare,
  retractBlocks,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

/** Blocks of these numbers are a day apart. */
const secondDay = 7_200;

let database: TestDatabase;
let targets: Target[];
let folder: string;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  folder = await mkdtemp(join(tmpdir(), "days-"));
  await appendTrades(database.db, 1, 5);
  await appendTrades(database.db, secondDay, secondDay + 2);
  targets = await prepare(database.db);
  await project(database.db, targets);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

type DayFile = { path: string; rows: number; bytes: number; sha256: string; day: string };
type Manifest = { dataset: string; position: string; files: DayFile[] };

async function exported(): Promise<Manifest> {
  const { code, words } = await operate(database.url, "export", "sales", "--by-day", folder);
  expect([code, words]).toEqual([0, expect.stringContaining("rows in")]);
  return JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
}

/** A command none of whose files may be longer than some blocks of 512 bytes. */
const limitedTo = async (blocks: number, ...args: string[]) => {
  const command = [process.execPath, ...launch("op", ...args)];
  return await promisify(execFile)(
    "sh",
    ["-c", 'ulimit -f "$0"; exec "$@"', `${blocks}`, ...command],
    {
      env: environmentOf(database.url),
    },
  );
};

/** What another engine reads of all files that the manifest names. */
async function readByDuckdb({ files }: Manifest): Promise<unknown> {
  const paths = files.map(({ path }) => `'${join(folder, path)}'`);
  const [sums] = await askDuckdb(
    `select count(*)::int as sales, sum(total_wei)::varchar as wei from read_parquet([${paths.join(", ")}])`,
  );
  return sums;
}

describe("op export --by-day", () => {
  it("writes a file for each chain and day, which another engine reads, and a manifest with their digests", async () => {
    const manifest = await exported();

    expect(manifest).toMatchObject({ dataset: "sales" });
    expect(manifest.files.map(({ rows }) => rows)).toEqual([5, 3]);
    for (const { path, bytes, sha256, day } of manifest.files) {
      const content = await readFile(join(folder, path));
      expect([content.length, path]).toEqual([bytes, `chain_id=1/day=${day}.parquet`]);
      expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
    }
    expect(await readByDuckdb(manifest)).toEqual({
      sales: 8,
      wei: `${5 * 1_000 + 15 + 3 * (1_000 + secondDay) + 3}`,
    });
  });

  it("fails where a part of a file cannot be written, and names no file then", async () => {
    const { files } = await exported();
    const bytes = Math.max(...files.map((file) => file.bytes));
    const other = join(folder, "limited");
    const limited = limitedTo(Math.floor((bytes - 1) / 512), "export", "sales", "--by-day", other);

    await expect(limited).rejects.toMatchObject({ stderr: expect.stringContaining("EFBIG") });
    expect((await readdir(join(other, "chain_id=1"))).join()).not.toContain(".part");
    await expect(stat(join(other, "manifest.json"))).rejects.toThrow("ENOENT");
  });

  it("writes again only what changed, and removes a day whose sales a reorg took away", async () => {
    const before = await exported();
    const [first] = before.files;
    const { mtimeMs } = await stat(join(folder, first?.path ?? ""));
    await retractBlocks(database.db, secondDay, secondDay + 1, secondDay + 2);
    await project(database.db, targets);

    const after = await exported();

    expect(after.files.map(({ sha256 }) => sha256)).toEqual([first?.sha256]);
    expect((await stat(join(folder, first?.path ?? ""))).mtimeMs).toBe(mtimeMs);
    await expect(stat(join(folder, before.files[1]?.path ?? ""))).rejects.toThrow("ENOENT");
  });

  it("refuses a directory that holds something else", async () => {
    const { code, words } = await operate(database.url, "export", "transfers", "--by-day", folder);
    expect([code, words]).toEqual([1, expect.stringContaining("holds sales")]);
  });
});

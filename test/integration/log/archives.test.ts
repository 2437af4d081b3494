import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archivePartition } from "../../../api/run/archives/archive-partition.ts";
import type { Database } from "../../../projections/database.ts";
import { appendObservations } from "../../../projections/log/append.ts";
import { readArchives } from "../../../projections/log/archives/archives.ts";
import {
  assertReadable,
  checkArchiveFile,
} from "../../../projections/log/archives/check-archive.ts";
import { digestFacts } from "../../../projections/log/archives/digest.ts";
import { findHindrances } from "../../../projections/log/archives/find-hindrances.ts";
import { partitionAt, settle } from "../../support/database/archives.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  setBlocks,
} from "../../support/database/given.ts";
import { operate } from "../../support/database/operator.ts";
import { repartition } from "../../support/database/partitions.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";

let database: TestDatabase;
let directory: string;
beforeAll(async () => {
  database = await createDatabase();
  directory = await mkdtemp(join(tmpdir(), "archives-"));
  await fill(database.db);
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

/** Texts that a line, a file or an array could take for their own. */
const awkward = ["\t", "\n", "\\N", "\\\\t", '"{},', "’ü😀", "\u0001", ""];

const event = (index: number): ChainEvent => ({
  kind: index % 9 === 0 ? "exchange_event" : "erc721_transfer",
  block: block(1, 1 + Math.floor(index / 10)),
  logIndex: index % 10,
  contract: addressOf(50),
  tokenId: index % 5 === 0 ? 2n ** 256n - 1n : BigInt(index % 7),
  from: addressOf(index % 3),
  to: addressOf(1 + (index % 3)),
  ...(index % 9 === 0 && {
    payload: { source: "Blur", args: awkward, large: 2 ** 53, exact: 1e-7, none: null },
  }),
});

/** Two partitions of 40 positions and a part of a third. */
async function fill(db: Database): Promise<void> {
  await repartition(db, 40);
  await appendEvents(
    db,
    Array.from({ length: 60 }, (_, index) => event(index)),
  );
  await setBlocks(db, "block_retracted", [block(1, 6)]);
  await appendObservations(
    db,
    awkward.map((name, index) => ({
      ...{
        kind: "contract_described",
        chainId: 1,
        contract: addressOf(50),
        recordedAt: new Date(index),
      },
      identity: `0x${String(index).padStart(64, "0")}`,
      payload: { name, symbol: null, standard: null },
    })),
  );
  await sql`update log.fact set recorded_at = recorded_at + interval '123 microseconds' where identity is not null`.execute(
    db,
  );
  await appendEvents(
    db,
    Array.from({ length: 20 }, (_, index) => event(70 + index)),
  );
  await settle(db, 1, 9);
}

describe("an archived partition", () => {
  it("is a file from which every fact can be made again, with the digest that PostgreSQL makes of the table", async () => {
    const partition = await partitionAt(database.db, 40n);
    const archive = await archivePartition(database.db, partition, directory);

    await assertReadable(archive);
    expect(archive).toMatchObject({ isNew: true, facts: 40n, first: 40n, last: 79n });
    expect(await digestFacts(database.db, sql`log.fact`, { first: 40n, last: 79n })).toEqual({
      facts: archive.facts,
      digest: archive.digest,
    });
    expect(await readArchives(database.db)).toEqual([
      expect.objectContaining({ sha256: archive.sha256 }),
    ]);
    const bytes = await readFile(join(directory, archive.file));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const rows = await parquetReadObjects({ file: file as ArrayBuffer });
    expect(rows.map(({ position }) => position)).toEqual(
      Array.from({ length: 40 }, (_, index) => BigInt(40 + index)),
    );
    expect(
      rows.flatMap(({ payload }) => (payload === null ? [] : (JSON.parse(payload).name ?? []))),
    ).toEqual(awkward);
    expect((await readdir(directory)).toSorted()).toEqual([
      "fact_40-79.json",
      "fact_40-79.parquet",
    ]);
  });

  it("is written once; a file that was half written, damaged or not noted is made good", async () => {
    const partition = await partitionAt(database.db, 40n);
    const archive = await archivePartition(database.db, partition, directory);
    expect(archive.isNew).toBe(false);
    await writeFile(join(directory, `${archive.file}.part`), "half");
    await sql`delete from log.archive`.execute(database.db);
    expect(await archivePartition(database.db, partition, directory)).toEqual(archive);
    await appendFile(join(directory, archive.file), "more");
    expect(await checkArchiveFile(archive)).toMatch(/bytes, and was written with/);
    const again = await archivePartition(database.db, partition, directory);

    expect([again.isNew, again.sha256]).toEqual([true, archive.sha256]);
    expect(await checkArchiveFile(again)).toBeNull();
  });

  it("that has another byte, or is gone, is not taken for one that is whole", async () => {
    const archive = await archivePartition(
      database.db,
      await partitionAt(database.db, 0n),
      directory,
    );
    const place = join(directory, archive.file);
    const bytes = await readFile(place);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    await writeFile(place, bytes);
    await expect(assertReadable(archive)).rejects.toThrow(/is damaged/);
    await rm(place);
    expect(await checkArchiveFile(archive)).toMatch(/is missing/);
  });
});

const hindrancesAt = async (first: bigint, indexed = [1]) =>
  await findHindrances(database.db, await partitionAt(database.db, first), indexed);

describe("the last facts of a chain that nobody indexes here any more", () => {
  beforeAll(() => settle(database.db, 1, 7));
  afterAll(() => settle(database.db, 1, 9));

  it("count as final where the chain is not configured", async () => {
    expect(await hindrancesAt(40n)).not.toEqual([]);
    expect(await hindrancesAt(40n, [33139])).toEqual([]);
  });
});

describe("a partition is not archived", () => {
  it.each([
    ["in which the log goes on", 80n, async () => {}, /the log goes on in it/],
    [
      "with a block that is not final",
      40n,
      (db: Database) => settle(db, 1, 7),
      /block 8 of chain 1 is not final/,
    ],
    [
      "that a projection has not passed",
      40n,
      async (db: Database) => {
        await settle(db, 1, 9);
        await sql`insert into engine.checkpoint (projection, version, parameters, position) values ('slow_2', 2, '', 78)`.execute(
          db,
        );
      },
      /projection slow_2 is at 78/,
    ],
  ])("%s", async (_, first, given, expected) => {
    await given(database.db);
    expect((await hindrancesAt(first)).join()).toMatch(expected);
    expect(await hindrancesAt(0n)).toEqual([]);
  });

  it("and `op log archive` says why, after it has written the others", async () => {
    const { code, out } = await operate(
      database.url,
      "log",
      "archive",
      "--to",
      directory,
      "--json",
    );
    const { archived, skipped } = JSON.parse(out);

    expect(code).toBe(0);
    expect(archived.map(({ first }: { first: string }) => first)).toEqual(["0"]);
    expect(skipped).toEqual([
      expect.objectContaining({ first: "40", hindrances: ["projection slow_2 is at 78"] }),
      expect.objectContaining({ first: "80" }),
    ]);
  });
});

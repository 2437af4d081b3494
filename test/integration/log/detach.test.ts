import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archivePartition } from "../../../api/run/archives/archive-partition.ts";
import { rebuild } from "../../../projections/engine/rebuild.ts";
import { verify } from "../../../projections/engine/verify.ts";
import { readArchives, readDetached } from "../../../projections/log/archives/archives.ts";
import { attachPartition } from "../../../projections/log/archives/attach-partition.ts";
import { detachPartition } from "../../../projections/log/archives/detach-partition.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { carryOut } from "../../simulation/play.ts";
import type { Step } from "../../simulation/script.ts";
import { partitionAt } from "../../support/database/archives.ts";
import {
  addressOf,
  appendEvents,
  block,
  project,
  setBlocks,
} from "../../support/database/given.ts";
import { operate } from "../../support/database/operator.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import {
  hashOfLog,
  projections,
  recordHistory,
  targets,
  wholePartitions,
} from "../../support/database/recorded-history.ts";

let database: TestDatabase;
let directory: string;
let steps: readonly Step[];
let complete: string;
/** A dozen partitions: each costs every statement. */
const partitionSize = 120;
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  directory = await mkdtemp(join(tmpdir(), "detach-"));
  steps = await recordHistory(database.db, 2, { partitionSize });
  complete = await hashOfLog(database.db);
  for (const one of await wholePartitions(database.db))
    await archivePartition(database.db, one, directory);
}, 120_000);
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

/** Returns how many facts left, and their kinds. */
async function detachAll(): Promise<{ left: bigint; kinds: number[] }> {
  const before = await countKinds();
  for (const archive of await readArchives(database.db)) {
    if (archive.detachedAt !== null) continue;
    const partition = await partitionAt(database.db, archive.first);
    await detachPartition(database.db, partition, archive);
  }
  const after = new Map((await countKinds()).map(({ kind, facts }) => [kind, facts]));
  const lost = before.map(({ kind, facts }) => ({ kind, facts: facts - (after.get(kind) ?? 0n) }));
  return {
    left: lost.reduce((sum, { facts }) => sum + facts, 0n),
    kinds: lost.flatMap(({ kind, facts }) => (facts > 0n ? [kind] : [])),
  };
}

async function countKinds() {
  const { rows } = await sql<{ kind: number; facts: bigint }>`
    select kind, count(*) as facts from log.fact group by kind order by kind`.execute(database.db);
  return rows;
}

async function attachAll(): Promise<void> {
  for (const archive of await readDetached(database.db))
    await attachPartition(database.db, await partitionAt(database.db, archive.first), archive);
}

const differences = async () => {
  const found: unknown[] = [];
  for (const projection of projections) {
    const one = await verify(database.db, projection, { maxExamples: 3, onProgress: () => {} });
    if (one.different > 0) found.push(one);
  }
  return found;
};

describe("a detached partition", () => {
  it("comes back as it was", async () => {
    const { left, kinds } = await detachAll();
    expect(left).toBeGreaterThan(100n);
    expect(kinds).toEqual([10, 20, 21, 35]);
    expect(await hashOfLog(database.db)).not.toBe(complete);
    await attachAll();

    expect(await hashOfLog(database.db)).toBe(complete);
    const { rows } = await sql`
      select from log.detached_block union all select from log.detached_range`.execute(database.db);
    expect(rows).toEqual([]);
  });

  it("leaves every projection as it is, and each derived again equals it", async () => {
    await detachAll();

    expect(await differences()).toEqual([]);
    for (const projection of projections) await rebuild(database.db, projection, () => {});
    await attachAll();
    expect(await differences()).toEqual([]);
  }, 120_000);

  it("holds its facts against being appended again", async () => {
    await detachAll();
    const before = await readLogHead(database.db);
    for (const step of steps) if (step.does === "append") await carryOut(database.db, step);

    expect(await readLogHead(database.db)).toBe(before);
    await attachAll();
  });
});

describe("beside detached partitions", () => {
  const token = { contract: addressOf(50), tokenId: 1n, logIndex: 0 } as const;
  const newest = block(1, 950_000);

  it("a reorg brings back what is before it, wherever that is", async () => {
    await detachAll();
    await appendEvents(database.db, [
      { ...token, kind: "erc721_transfer", block: newest, from: addressOf(60), to: addressOf(70) },
    ]);
    await project(database.db, targets);
    await setBlocks(database.db, "block_retracted", [newest]);
    await project(database.db, targets);

    expect(await differences()).toEqual([]);
    await attachAll();
    expect(await differences()).toEqual([]);
    complete = await hashOfLog(database.db);
  }, 60_000);

  it("what would change the meaning of archived facts is refused", async () => {
    await detachAll();
    const sold = block(1, 900_001);
    await expect(setBlocks(database.db, "block_retracted", [sold])).rejects.toThrow(
      /block 900001 of chain 1 has facts that are in an archive alone/,
    );
    const { rows } = await sql<{ number: number; hash: Hex; chainId: number }>`
      select number::int, hash, chain_id as "chainId"
      from log.detached_block join log.block using (block_id) where holds_sales limit 1`.execute(
      database.db,
    );
    const [held] = rows;
    if (held === undefined) throw new Error("sales were detached");
    const added = { ...held, timestamp: 0 };
    const late = { ...token, block: added, logIndex: 999, transactionIndex: 0 };
    await expect(
      appendEvents(database.db, [{ ...late, kind: "exchange_event", payload: {} }]),
    ).rejects.toThrow(/are in an archive alone/);
    expect(await hashOfLog(database.db)).not.toBe(complete);
    await attachAll();
    expect(await hashOfLog(database.db)).toBe(complete);
  });
});

describe("a file that is gone or damaged", () => {
  it("is refused by detach, attach and rebuild, and nothing changes", async () => {
    const [archive] = await readArchives(database.db);
    if (archive === undefined) throw new Error("a partition is archived");
    const partition = await partitionAt(database.db, archive.first);
    const place = join(directory, archive.file);
    const sales = projections.filter(({ name }) => name === "sales");
    await detachPartition(database.db, partition, archive);
    const detached = await hashOfLog(database.db);
    const state = () =>
      sql`select projection, version, position from engine.checkpoint order by 1`.execute(
        database.db,
      );
    const before = await state();

    await rename(place, `${place}.away`);
    await expect(attachPartition(database.db, partition, archive)).rejects.toThrow(/is missing/);
    for (const one of sales)
      await expect(rebuild(database.db, one, () => {})).rejects.toThrow(/is missing/);
    await copyFile(`${place}.away`, place);
    await flipByte(place);
    await expect(attachPartition(database.db, partition, archive)).rejects.toThrow(/is damaged/);
    for (const one of sales)
      await expect(rebuild(database.db, one, () => {})).rejects.toThrow(/is damaged/);
    expect(await state()).toEqual(before);
    expect(await hashOfLog(database.db)).toBe(detached);

    await rename(`${place}.away`, place);
    await attachPartition(database.db, partition, archive);
    await flipByte(place);
    await expect(detachPartition(database.db, partition, archive)).rejects.toThrow(/is damaged/);
    expect(await hashOfLog(database.db)).toBe(complete);
    await archivePartition(database.db, partition, directory);
  });
});

async function flipByte(place: string): Promise<void> {
  const bytes = await readFile(place);
  bytes[200] = (bytes[200] ?? 0) ^ 1;
  await writeFile(place, bytes);
}

describe("op log", () => {
  const op = async (...args: string[]) => {
    const { out, code } = await operate(database.url, "log", ...args, "--json");
    return { code, answer: JSON.parse(out) };
  };

  it("skips a partition whose file is damaged, and detaches the others", async () => {
    const place = join(directory, `fact_0-${partitionSize - 1}.parquet`);
    const whole = await readFile(place);
    await flipByte(place);
    const { code, answer } = await op("detach");
    expect(code).toBe(0);
    expect(answer.skipped[0].hindrances).toEqual([expect.stringMatching(/is damaged/)]);
    expect(answer.detached.length).toBeGreaterThan(0);
    await writeFile(place, whole);
    await op("attach");
    expect(await hashOfLog(database.db)).toBe(complete);
  }, 60_000);

  it("detaches, says why not, lists, and attaches", async () => {
    await sql`
      insert into engine.checkpoint (projection, version, parameters, position) values ('slow_2', 2, '', ${partitionSize * 1.5})`.execute(
      database.db,
    );
    const { answer } = await op("detach");
    expect(answer.detached.map(({ first }: { first: string }) => first)).toEqual(["0"]);
    expect(answer.skipped[0].hindrances).toEqual([
      `projection slow_2 is at ${partitionSize * 1.5}`,
    ]);
    expect(answer.skipped.at(-1).hindrances).toEqual(["it is not archived"]);
    await sql`delete from engine.checkpoint where projection = 'slow_2'`.execute(database.db);
    const again = await op("detach", "--partition", "0");
    expect([again.code, again.answer.skipped[0].hindrances]).toEqual([
      1,
      ["it was detached before"],
    ]);
    const { answer: listed } = await op("partitions");
    expect(listed.partitions.slice(0, 2).map(({ state }: { state: string }) => state)).toEqual([
      "detached",
      "archived",
    ]);

    const elsewhere = await mkdtemp(join(tmpdir(), "elsewhere-"));
    const lacking = await op("archive", "--to", elsewhere, "--partition", "0");
    expect(lacking.answer.skipped[0].hindrances.join()).toMatch(/it was detached, and .* missing/);
    const file = `fact_0-${partitionSize - 1}.parquet`;
    await copyFile(join(directory, file), join(elsewhere, file));
    await op("archive", "--to", elsewhere, "--partition", "0");
    const { answer: attached } = await op("attach");
    expect(attached.attached).toMatchObject([{ first: "0", directory: elsewhere }]);
    expect(await hashOfLog(database.db)).toBe(complete);
    await rm(elsewhere, { recursive: true });
  }, 60_000);
});

import { once } from "node:events";
import { createInterface } from "node:readline";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { schemaOf } from "#projections/log/versions.ts";
import { block, setBlocks } from "#test/support/database/given.ts";
import {
  apes,
  appendTrades,
  operate,
  orderHashOf,
  prepare,
  projections,
  startOperator,
} from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
const started: ReturnType<typeof startOperator>[] = [];
beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await appendTrades(database.db, 1, 3);
  await setBlocks(database.db, "block_retracted", [block(1, 2)]);
  await prepare(database.db);
});
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
});
afterAll(() => database.drop());

async function saleId(tokenId: number): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select sale_id as id from sales.sale where token_id = ${tokenId}`.execute(database.db);
  return rows[0]?.id ?? "";
}

describe("op explain", () => {
  it("tells the facts of a sale's transaction with links to both", async () => {
    const id = await saleId(3);

    const { code, out } = await operate(database.url, "explain", "sale", id, "--json");

    const { rows, facts } = JSON.parse(out);
    expect(code).toBe(0);
    expect(rows).toMatchObject([{ token_id: "3", total_wei: "1003", sale_id: id }]);
    expect(
      facts.map((fact: { kind: string; logIndex: number }) => [fact.kind, fact.logIndex]),
    ).toEqual([
      ["erc721_transfer", 1],
      ["order_fulfilled", 2],
    ]);
    expect(facts[1]).toMatchObject({
      counts: true,
      orderHash: orderHashOf(3),
      block: { number: 3, hash: block(1, 3).hash },
      links: {
        block: "https://etherscan.io/block/3",
        transaction: `https://etherscan.io/tx/${facts[1].transactionHash}`,
      },
    });
  });

  it("shows which facts of a token are retracted, and by which fact", async () => {
    const { code, out } = await operate(database.url, "explain", "token", `1:${apes}:2`);

    expect(code).toBe(0);
    expect(
      out.match(/retracted by 10 {2}\d+ {2}chain 1 {2}block 2 {2}log \d {2}erc721_transfer/g),
    ).toHaveLength(2);
  });

  it("tells a token as it was at a block, by the facts up to it", async () => {
    const at = async (block: string) => {
      const args = ["explain", "token", `1:${apes}:3`, "--at", block, "--json"];
      const { code, out } = await operate(database.url, ...args);
      return {
        code,
        ...(out === "" ? {} : (JSON.parse(out) as { rows: unknown[]; facts: unknown[] })),
      };
    };
    const now = await operate(database.url, "explain", "token", `1:${apes}:3`, "--json");
    const { rows, facts } = JSON.parse(now.out);
    expect(await at("3")).toMatchObject({ code: 0, rows: [{ owner: rows[0].owner }], facts });
    expect(await at("1")).toMatchObject({ code: 0, rows: [], facts: [] });
    expect((await at("99")).code).toBe(2);
    const sale = await operate(database.url, "explain", "sale", await saleId(3), "--at", "3");
    expect(sale.code).toBe(2);
  });

  it("shows the facts that a collection was derived from", async () => {
    const { out } = await operate(database.url, "explain", "collection", `1:${apes}`, "--json");

    expect(JSON.parse(out)).toMatchObject({
      what: "collection",
      total: 1,
      facts: [{ position: 1, kind: "erc721_transfer", counts: true, block: { number: 1 } }],
    });
  });

  it("fails for an unknown id, and rejects a malformed one", async () => {
    const nothing = await operate(database.url, "explain", "sale", `0x${"00".repeat(32)}`);
    const malformed = await operate(database.url, "explain", "token", "seven");
    const unheard = await operate(database.url, "explain", "wallet", "0x1");

    expect([nothing.code, malformed.code, unheard.code]).toEqual([1, 2, 2]);
    expect(nothing.words).toContain("no such sale");
  });
});

describe("op status", () => {
  it("shows positions, lags and versions, and which node does not answer", async () => {
    const { code, out } = await operate(database.url, "status", "--json");

    const status = JSON.parse(out);
    expect(code).toBe(0);
    expect(status.logHead).toBe(10);
    expect(status.chains).toMatchObject([
      { chainId: 1, head: null, indexed: null, recorded: 3 },
      { chainId: 33139, head: null, recorded: null, faults: ["127.0.0.1:1 is unreachable"] },
    ]);
    const standing = { isCurrent: true, position: 10, lag: 0, rebuilding: null, others: [] };
    expect(status.projections).toMatchObject(
      projections.map(({ name }) => ({
        name,
        schema: schemaOf(name),
        previous: null,
        ...standing,
      })),
    );
  });

  it("prints the same as a table", async () => {
    const { out } = await operate(database.url, "status");

    expect(out).toContain("log head 10\n");
    expect(out).toMatch(/^ownership +ownership_v\d+ +\d+ +10 +0 /m);
  });

  it("tells of tables of another release's version", async () => {
    await sql`insert into engine.checkpoint values ('ownership_v99', 99, '', 7)`.execute(
      database.db,
    );
    const { out } = await operate(database.url, "status");
    await sql`delete from engine.checkpoint where projection = 'ownership_v99'`.execute(
      database.db,
    );

    expect(out).toContain(
      "ownership version 99 of another release (schema ownership_v99): at 7, updated ",
    );
  });
});

/** Lines of a running tail, as they come. */
function tail(...args: string[]) {
  const child = startOperator(database.url, ["tail", ...args]);
  started.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const take = async (count: number) => {
    const taken: string[] = [];
    while (taken.length < count) taken.push((await lines.next()).value);
    return taken;
  };
  return { child, take };
}

describe("op tail", () => {
  it("prints facts after a position and those that come, and ends with 0 when told to", async () => {
    const { child, take } = tail("--after", "8", "--json");
    const first = (await take(2)).map((line) => JSON.parse(line));
    await appendTrades(database.db, 4, 4);
    const then = (await take(3)).map((line) => JSON.parse(line));
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");

    expect(code).toBe(0);
    expect(first.map(({ position, kind }) => [position, kind])).toEqual([
      [9, "order_fulfilled"],
      [10, "block_retracted"],
    ]);
    expect(then.map(({ position }) => position)).toEqual([11, 12, 13]);
    expect(then[2]).toMatchObject({ kind: "order_fulfilled", chainId: 1, block: { number: 4 } });
  });

  it("prints only the kinds and chains asked for", async () => {
    const { take } = tail("--after", "0", "--kind", "order_fulfilled", "--chain", "1");

    expect((await take(3)).map((line) => line.split("  ")[0])).toEqual(["3", "6", "9"]);
  });

  it("refuses what is no kind, chain or position", async () => {
    for (const args of [
      ["--kind", "sale"],
      ["--chain", "5"],
      ["--after", "-1"],
    ]) {
      expect((await operate(database.url, "tail", ...args)).code).toBe(2);
    }
  });
});

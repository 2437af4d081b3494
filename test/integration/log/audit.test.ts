import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedMarket } from "#devnet/market/seed.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { type AuditOptions, auditChain } from "#ops/ponder/audit-chain.ts";
import { indexedSources } from "#ops/ponder/indexed-sources.ts";
import { readSettledNumber } from "#projections/log/audit.ts";
import { appendBlockStates } from "#projections/log/blocks.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import { dumpFacts } from "#test/support/chain/chain-replay.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import { pipelineSettings, startPipeline, until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { runOp } from "#test/support/processes/op.ts";

/** Ponder's for this chain. */
const finality = 30;

let market: Market;
/** Holds what the recorder made of the chain. */
let database: TestDatabase;
/** The last height that the recorder has settled. */
let settled: number;
let settings: Record<string, string>;

beforeAll(async () => {
  market = await openMarket({ chainId: 33139 });
  await seedMarket(market.client, { chainId: 33139, seed: 61 });
  database = await createDatabase();
  const options = {
    databaseUrl: database.url,
    chains: [market.anvil],
    settings: { FINALITY_33139: "1" },
  };
  settings = await pipelineSettings(options);
  const head = Number(await market.client.getBlockNumber());
  const projector = await startPipeline({ ...options, roles: ["projector"] });
  const indexer = startPipeline({ ...options, roles: ["indexer"] });
  settled = await until("the backfill to be settled", async () => {
    const number = await readSettledNumber(database.db, 33139);
    return number >= head - finality && number;
  });
  // It calls itself ready once it follows new blocks.
  await market.client.setIntervalMining({ interval: 1 });
  await (await indexer).stop();
  await market.client.setIntervalMining({ interval: 0 });
  await projector.stop();
  settled = await readSettledNumber(database.db, 33139);
  await dropAbove(settled);
});

afterAll(async () => {
  await database?.drop();
  await market?.stop();
});

/** What is not final is no matter of an audit: the dumps are compared without it. */
async function dropAbove(number: number): Promise<void> {
  await sql`
    delete from log.fact f using log.block b where b.block_id = f.block_id and b.number > ${number}
  `.execute(database.db);
}

function audit({ db }: TestDatabase, more: Partial<AuditOptions> = {}) {
  const config = readConfig(settings);
  const [chain] = config.chains;
  if (chain === undefined) throw new Error("no chain is configured");
  return auditChain({
    db,
    chain,
    indexers: [{ name: coreIndexer, recorded: indexedSources(chain, config.curated) }],
    range: {},
    repair: false,
    onProgress: () => {},
    ...more,
  });
}

async function operate(...words: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout } = await runOp(settings, ...words);
  return { code, output: stdout };
}

/** A database in which the recorder has settled as much, and which lacks every fact. */
async function createEmptied(): Promise<TestDatabase> {
  const emptied = await createDatabase();
  const { rows } = await sql<{ schema: string; id: string }>`
    select ponder_schema as schema, settled_id as id from ops.recorder`.execute(database.db);
  const { schema, id } = rows[0] ?? {};
  await sql`insert into ops.indexer values (33139, ${schema}, now())`.execute(emptied.db);
  await sql`insert into ops.recorder values (33139, ${schema}, ${id})`.execute(emptied.db);
  return emptied;
}

describe("an audit", () => {
  it("finds no difference in what the recorder took over, whichever kind of fact", async () => {
    const { code, output } = await operate("audit", "33139", "--json");
    const { rows } = await sql<{ events: number; kinds: number; blocks: number }>`
      select count(*)::integer as events, count(distinct kind)::integer as kinds,
             count(distinct block_id)::integer as blocks
      from log.fact where log_index is not null and sub_index = 0`.execute(database.db);

    const [row] = rows;
    expect(row?.kinds).toBeGreaterThanOrEqual(11);
    expect(JSON.parse(output).audits).toEqual([
      {
        chainId: 33139,
        from: 0,
        to: settled,
        blocks: row?.blocks,
        events: row?.events,
        found: 0,
        left: 0,
        differences: [],
        catchingUp: [],
      },
    ]);
    expect(code).toBe(0);
  });

  it("makes of the chain's logs the facts that the recorder makes, once", async () => {
    const emptied = await createEmptied();
    try {
      const first = await audit(emptied, { repair: true });
      expect(first.found).toBe(first.blocks);
      expect(first.left).toBe(0);
      expect(await dumpFacts(emptied.db)).toEqual(await dumpFacts(database.db));
      expect(await audit(emptied, { repair: true })).toMatchObject({ found: 0, left: 0 });
    } finally {
      await emptied.drop();
    }
  });

  it("is taken up where it was cut off, with what it had found", async () => {
    const emptied = await createEmptied();
    const [chain] = readConfig(settings).chains;
    if (chain === undefined) throw new Error("no chain is configured");
    const short = { chain: { ...chain, logsBlockRange: 50 } };
    const ranges: number[] = [];
    try {
      const cut = audit(emptied, {
        ...short,
        onProgress({ from }) {
          if (from >= 50) throw new Error("cut off");
        },
      });
      await expect(cut).rejects.toThrow("cut off");
      const whole = await audit(emptied, {
        ...short,
        onProgress: ({ from }) => void ranges.push(from),
      });
      expect(ranges[0]).toBe(100);
      expect(whole.found).toBe(whole.blocks);
      expect(whole).toEqual({ ...(await audit(emptied, short)) });
    } finally {
      await emptied.drop();
    }
  });

  it("names what is missing, surplus, wrongly counted or dropped, and repairs it; exit 1 while any is left", async () => {
    const { db } = database;
    const before = await dumpFacts(db);
    const { rows } = await sql<{ number: bigint; hash: `0x${string}`; blockId: bigint }>`
      select b.number, b.hash, b.block_id as "blockId" from log.block b
      where b.number <= ${settled} and exists (select from log.fact f where f.block_id = b.block_id)
      order by b.number`.execute(db);
    const [lacking, dropped, doubled] = [rows[10], rows[20], rows[30]];
    if (!lacking || !dropped || !doubled) throw new Error("the chain is too short");
    await sql`delete from log.fact where block_id = ${lacking.blockId} and log_index is not null`.execute(
      db,
    );
    await db
      .transaction()
      .execute((session) =>
        appendBlockStates(session, "block_retracted", [dropped.blockId], new Date(0)),
      );
    const wrong = block(33139, Number(doubled.number), "alien");
    const event = { kind: "erc721_transfer", contract: addressOf(1), tokenId: 1n } as const;
    await appendEvents(db, [{ ...event, block: wrong, logIndex: 0 }]);

    const found = await operate("audit", "33139", `${rows[5]?.number}..`, "--json");
    const kinds = (output: string) =>
      JSON.parse(output).audits[0].differences.map((one: { kind: string; hash: string }) => [
        one.kind,
        one.hash,
      ]);
    expect(kinds(found.output)).toEqual([
      ["missing", lacking.hash],
      ["dropped_block", dropped.hash],
      ["wrong_block", wrong.hash],
    ]);
    expect(found.code).toBe(1);

    const repaired = await operate("audit", "33139", "--repair");
    expect(repaired.output).toContain("3 differences, 0 left after the repair");
    expect(repaired.code).toBe(0);
    expect(await dumpFacts(db)).toEqual(before);
    expect(await operate("audit", "33139")).toMatchObject({ code: 0 });

    const real = { chainId: 33139, number: Number(doubled.number), hash: doubled.hash };
    await appendEvents(db, [{ ...event, block: { ...real, timestamp: 0 }, logIndex: 9_999 }]);
    const surplus = await operate("audit", "33139", "--repair", "--json");
    expect(kinds(surplus.output)).toEqual([["surplus", doubled.hash]]);
    expect(surplus.code).toBe(1);
  });
});

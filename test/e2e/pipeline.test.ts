import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { seededRandom } from "#devnet/market/random.ts";
import { seedMarket } from "#devnet/market/seed.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import { pickScenario } from "#devnet/market/trading.ts";
import type { Database } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { untilCanonical } from "../support/database/canonical.ts";
import { type Pipeline, startPipeline, until, untilReady } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { ownedTokens } from "../support/market-data/owned-tokens.ts";
import { seedsOf } from "../support/thoroughness.ts";

describe("the pipeline over two chains", () => {
  let ethereum: Market;
  let apechain: Market;
  let database: TestDatabase;
  let pipeline: Pipeline;

  beforeAll(async () => {
    const timestamp = Math.floor(Date.now() / 1000) - 4 * 86_400;
    [ethereum, apechain] = await Promise.all([
      openMarket({ chainId: 1, timestamp }),
      openMarket({ chainId: 33139, timestamp }),
    ]);
    await seedMarket(ethereum.client, { chainId: 1, seed: 11 });
    await seedMarket(apechain.client, { chainId: 33139, seed: 12 });
    for (const { client } of [ethereum, apechain]) await client.setIntervalMining({ interval: 1 });
    database = await createDatabase();
    pipeline = await startPipeline({
      databaseUrl: database.url,
      chains: [ethereum.anvil, apechain.anvil],
    });
    await untilReady(pipeline);
  });

  afterAll(async () => {
    await pipeline?.stop();
    await database?.drop();
    await ethereum?.stop();
    await apechain?.stop();
  });

  it("holds what the chains hold: facts, owners, balances, sales", async () => {
    await untilCanonical(database.db, [ethereum, apechain]);
    // From here on a block per trade: the blocks that go hold something.
    await ethereum.client.setAutomine(true);
  });

  for (const depth of seedsOf([20, 5, 1])) {
    it(`after a reorg of ${depth} blocks of one shows no trace of it, deletes nothing and the other as it is`, async () => {
      await trade(ethereum, depth + 5, depth);
      await untilCanonical(database.db, [ethereum, apechain]);
      const before = await logUpTo(database.db);
      const watch = watchChain(pipeline, database.db);
      onTestFinished(() => watch.stop().then(() => {}));
      await watch.pollsMore(5);

      await ethereum.client.request({
        method: "anvil_reorg",
        params: [depth, []],
      } as never);
      await trade(ethereum, 3, 100 + depth);
      await untilCanonical(database.db, [ethereum, apechain]);

      await watch.pollsMore(5);
      const states = await watch.stop();
      expect(states.size).toBe(1);
      expect(await logUpTo(database.db, before.head)).toEqual(before);
      expect(await retractedBlocks(database.db, 1)).toBeGreaterThan(0);
      expect(await retractedBlocks(database.db, 33139)).toBe(0);
    });
  }
});

async function trade(
  { client, actors, anvil }: Market,
  scenarios: number,
  seed: number,
): Promise<void> {
  const random = seededRandom(seed);
  const marketContext = { chainId: anvil.chainId, client, random, sending: sendAsMined(client) };
  for (let played = 0; played < scenarios; played += 1)
    await pickScenario(random)(marketContext, actors);
}

/** Polls the other chain over HTTP and in the database, and collects every state. */
function watchChain(pipeline: Pipeline, db: Database) {
  const states = new Set<string>();
  let polls = 0;
  let watching = true;
  const watched = (async () => {
    while (watching) {
      const { status, body } = await pipeline.get("/v1/sales?chainId=33139&per_page=100");
      const { rows } = await sql`
        select count(*) as tokens, md5(string_agg(t.owner::text, ',' order by t.contract_id, t.token_id)) as owners
        from ${ownedTokens} t join log.contract c using (contract_id)
        where c.chain_id = 33139`.execute(db);
      const { data, meta } = body as { data: unknown; meta: unknown };
      const state = JSON.stringify([status, data, meta, rows], (_, value) =>
        typeof value === "bigint" ? value.toString() : value,
      );
      states.add(state);
      polls += 1;
      await delay(25);
    }
  })();
  return {
    async pollsMore(count: number) {
      const enough = polls + count;
      await until("polls", async () => polls >= enough);
    },
    async stop() {
      watching = false;
      await watched;
      return states;
    },
  };
}

/** The log's rows up to a position, as one hash: it stays what it is for ever. */
async function logUpTo(db: Database, upTo?: bigint) {
  const head = upTo ?? (await headOf(db));
  const { rows } = await sql<{ facts: bigint; hash: string }>`
    select count(*) as facts, md5(string_agg(f::text, '' order by f.position)) as hash
    from log.fact f where f.position <= ${head}`.execute(db);
  return { head, ...rows[0] };
}

async function headOf(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  return rows[0]?.position ?? 0n;
}

async function retractedBlocks(db: Database, chainId: number): Promise<number> {
  const { rows } = await sql<{ blocks: bigint }>`
    select count(distinct f.block_id) as blocks from log.fact f join log.block b using (block_id)
    where f.kind = ${kindLiteral("block_retracted")} and b.chain_id = ${chainId}`.execute(db);
  return Number(rows[0]?.blocks ?? 0n);
}

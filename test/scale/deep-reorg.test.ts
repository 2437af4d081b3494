import { once } from "node:events";
import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom } from "#devnet/market/random.ts";
import { seedMarket } from "#devnet/market/seed.ts";
import { sendAsMined } from "#devnet/market/signer.ts";
import { pickScenario } from "#devnet/market/trading.ts";
import { kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { untilCanonical } from "../support/database/canonical.ts";
import {
  type Pipeline,
  pipelineSettings,
  startPipeline,
  until,
  untilReady,
} from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { runOp, startOp } from "../support/processes/op.ts";

/** Ponder holds the blocks 30 to 60 below the head of this chain for final. */
const depth = 120;

let market: Market;
let database: TestDatabase;
let pipeline: Pipeline;
let settings: Record<string, string>;

beforeAll(async () => {
  const timestamp = Math.floor(Date.now() / 1000) - 4 * 86_400;
  market = await openMarket({ chainId: 33139, timestamp });
  await seedMarket(market.client, { chainId: 33139, seed: 51 });
  // Slowly: on a busy machine the block of the first descriptions must not become final before its reorg.
  await market.client.setIntervalMining({ interval: 4 });
  database = await createDatabase();
  const options = { databaseUrl: database.url, chains: [market.anvil] };
  settings = await pipelineSettings(options);
  pipeline = await startPipeline({ ...options, roles: ["indexer", "projector", "jobs", "api"] });
  await untilReady(pipeline);
});

afterAll(async () => {
  await pipeline?.stop();
  await database?.drop();
  await market?.stop();
});

async function trade(scenarios: number, seed: number): Promise<void> {
  const { client, actors } = market;
  const random = seededRandom(seed);
  const marketContext = { chainId: 33139, client, random, sending: sendAsMined(client) } as const;
  for (let played = 0; played < scenarios; played += 1)
    await pickScenario(random)(marketContext, actors);
}

/** Ponder follows fifty blocks at once at most. */
async function mineSlowly(blocks: number): Promise<void> {
  for (let left = blocks; left > 0; left -= 20) {
    await market.client.mine({ blocks: Math.min(left, 20) });
    await untilIndexed();
  }
}

async function untilIndexed(): Promise<void> {
  const head = Number(await market.client.getBlockNumber());
  await until(`block ${head} to be indexed`, async () => {
    const { body } = await pipeline.get("/v1/status");
    const { chains } = (body as { data: { chains: { indexed: { number: number } | null }[] } })
      .data;
    return (chains[0]?.indexed?.number ?? 0) >= head;
  });
}

/** Runs the command up to its last step, and kills it there. */
async function killRecovery(): Promise<void> {
  await database.db.transaction().execute(async (session) => {
    await sql`select from log.head for update`.execute(session);
    const child = startOp(settings, ["recover", "--chain", "33139"]);
    const gone = once(child, "exit");
    await until("the command to come to the log", async () => {
      const { rows } = await sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'op recover' and wait_event_type = 'Lock'
      `.execute(database.db);
      return rows.length > 0;
    });
    child.kill("SIGKILL");
    await gone;
  });
}

async function operate(...words: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout } = await runOp(settings, ...words);
  return { code, output: stdout };
}

const count = async (condition: RawBuilder<unknown>) => {
  const { rows } = await sql<{ facts: number }>`
    select count(*)::integer as facts from log.fact where ${condition}`.execute(database.db);
  return rows[0]?.facts ?? 0;
};

type Description = { number: number; hash: Hex; dropped: boolean };

/** The descriptions of contracts, by the blocks that they were read at, lowest first. */
async function descriptions(): Promise<Description[]> {
  const { rows } = await sql<Description>`
    select distinct b.number::integer as number, b.hash, d.block_id is not null as dropped
    from log.fact f join log.block b using (block_id)
    left join log.retracted_blocks((select position from log.head)) d using (block_id)
    where f.kind = ${kindLiteral("contract_described")} order by 1`.execute(database.db);
  return rows;
}

async function undescribed(): Promise<number> {
  const { rows } = await sql<{ contracts: number }>`
    select count(*)::integer as contracts from (
      select contract_id from log.fact where kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}
      except
      select f.contract_id from log.fact f where f.kind = ${kindLiteral("contract_described")} and not exists (
        select from log.retracted_blocks((select position from log.head)) d where d.block_id = f.block_id)
    ) c`.execute(database.db);
  return rows[0]?.contracts ?? -1;
}

/** Whether the chain has all blocks that were read by jobs alone, and that count. */
async function areObservationsCanonical(): Promise<boolean> {
  const { rows } = await sql<{ number: bigint; hash: Hex }>`
    select b.number, b.hash from log.block b
    where not exists (select from log.fact f where f.block_id = b.block_id and f.log_index is not null)
      and b.block_id not in (
        select d.block_id from log.retracted_blocks((select position from log.head)) d)`.execute(
    database.db,
  );
  for (const { number, hash } of rows) {
    const block = await market.client.getBlock({ blockNumber: number });
    if (block.hash !== hash) return false;
  }
  return true;
}

describe("a description of contracts", () => {
  it("read at a block that is reorganised away, and that holds no event, is read again", async () => {
    await until("descriptions", async () => (await undescribed()) === 0);
    // The last one: on a busy machine the block of the first may be final by now.
    const last = (await descriptions()).at(-1);
    if (last === undefined) throw new Error("nothing was described");
    const head = Number(await market.client.getBlockNumber());
    const params = [head - last.number + 1, []];
    await market.client.request({ method: "anvil_reorg", params } as never);
    await market.client.setIntervalMining({ interval: 1 });

    await until("the description to be retracted", async () =>
      (await descriptions()).some(({ hash, dropped }) => hash === last.hash && dropped),
    );
    await until("an effective description", async () => (await undescribed()) === 0);

    for (const { number, hash, dropped } of await descriptions()) {
      const block = await market.client.getBlock({ blockNumber: BigInt(number) });
      expect(dropped).toBe(block.hash !== hash);
    }
    expect(
      await count(sql`kind = ${kindLiteral("block_retracted")} and block_id in (
      select block_id from log.fact where log_index is not null)`),
    ).toBe(0);
  });
});

describe("a reorg below what Ponder holds for final", () => {
  beforeAll(async () => {
    // From here on a block per trade: the blocks that go hold something.
    await market.client.setAutomine(true);
    await trade(8, 1);
    await mineSlowly(depth - 10);
  });

  it("freezes the chain, is named by its health, and is left behind by one command", async () => {
    expect(JSON.parse((await operate("recover", "--chain", "33139", "--json")).output)).toEqual({
      chainId: 33139,
      recovery: null,
    });
    const head = Number(await market.client.getBlockNumber());
    // Of the chain: the jobs may append what they read of contracts and prices, and blocks that only they had read go.
    const recorded = sql`log_index is not null or kind = ${kindLiteral("block_retracted")} and block_id in (
      select block_id from log.fact where log_index is not null)`;
    const before = await count(recorded);
    await market.client.request({ method: "anvil_reorg", params: [depth, []] } as never);
    const fork = head - depth + 1;
    await trade(4, 2);

    await until("red health", async () => {
      const { status, body } = await pipeline.get("/readyz");
      return status === 503 && JSON.stringify(body).includes("op -- recover --chain 33139");
    });
    expect(await count(recorded)).toBe(before);
    await until("what was read at blocks that are gone to be retracted", areObservationsCanonical);
    const retractedBefore = await count(sql`kind = ${kindLiteral("block_retracted")}`);
    // Ponder follows a chain from its next block on.
    await market.client.setIntervalMining({ interval: 1 });

    await killRecovery();
    expect(await count(recorded)).toBe(before);

    const { code, output } = await operate("recover", "--chain", "33139", "--json");
    expect(code).toBe(0);
    const { recovery } = JSON.parse(output);
    expect(recovery.fork).toBeGreaterThanOrEqual(fork);
    expect(recovery.retracted).toBeGreaterThan(0);

    await untilCanonical(database.db, [market]);
    await untilReady(pipeline);
    expect(await count(sql`kind = ${kindLiteral("block_retracted")}`)).toBe(
      retractedBefore + recovery.retracted,
    );
    expect(await count(sql`kind = ${kindLiteral("block_readopted")}`)).toBe(0);
    expect(await doubles()).toBe(0);
    expect((await operate("recover", "--chain", "33139")).output).toContain("nothing was changed");
  });

  it("leaves a chain that is followed as before, shallow reorgs included", async () => {
    await trade(3, 3);
    await untilIndexed();
    await market.client.request({ method: "anvil_reorg", params: [5, []] } as never);
    await trade(3, 4);
    await untilCanonical(database.db, [market]);
  });
});

/** Events recorded twice, under any identity. */
async function doubles(): Promise<number> {
  const { rows } = await sql<{ doubles: number }>`
    select count(*)::integer as doubles from (
      select from log.fact f join log.block b using (block_id) where f.log_index is not null
      group by b.hash, f.log_index, f.sub_index having count(*) > 1) d`.execute(database.db);
  return rows[0]?.doubles ?? -1;
}

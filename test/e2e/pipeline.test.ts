import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts } from "../../devnet/accounts.ts";
import { seedMarket } from "../../devnet/market/seed.ts";
import { allProjections } from "../../projections/all.ts";
import { dumpFacts, dumpState, replayChain } from "../chain-replay.ts";
import { createProjection, project } from "../given.ts";
import { type Market, openMarket } from "../market.ts";
import { type Pipeline, startPipeline, untilReady } from "../pipeline.ts";
import { createDatabase, type TestDatabase } from "../postgres.ts";

describe("the pipeline", () => {
  let markets: Market[];
  let database: TestDatabase;
  let pipeline: Pipeline;

  beforeAll(async () => {
    const timestamp = Math.floor(Date.now() / 1000) - 4 * 86_400;
    markets = await Promise.all(
      ([1, 33139] as const).map((chainId) => openMarket({ chainId, timestamp })),
    );
    for (const { client, anvil } of markets)
      await seedMarket(client, { chainId: anvil.chainId, seed: 7 });
    database = await createDatabase();
    pipeline = await startPipeline({
      databaseUrl: database.url,
      chains: markets.map(({ anvil }) => anvil),
    });
  });

  afterAll(async () => {
    await pipeline?.stop();
    await database?.drop();
    for (const market of markets ?? []) await market.stop();
  });

  it("holds what the chains hold: facts, owners, sales", async () => {
    // A websocket tells of new blocks only: a chain without any would never be followed to its head.
    for (const { client } of markets) await client.setIntervalMining({ interval: 1 });
    await untilReady(pipeline, 20_000);
    const replay = await createDatabase();
    for (const { client, anvil } of markets)
      await replayChain(replay.db, client as never, anvil.chainId);
    const targets = [];
    for (const projection of allProjections({ feeRecipient: accounts.feeRecipient })) {
      targets.push(await createProjection(replay.db, projection));
    }
    await project(replay.db, targets);
    expect(await dumpFacts(database.db)).toEqual(await dumpFacts(replay.db));
    expect(await dumpState(database.db)).toEqual(await dumpState(replay.db));
    await replay.drop();
  });
});

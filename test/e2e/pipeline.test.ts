import { afterAll, beforeAll, describe, it } from "vitest";
import { seedMarket } from "../../devnet/market/seed.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { untilCanonical } from "../support/database/canonical.ts";
import { type Pipeline, startPipeline, untilReady } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

describe("the pipeline", () => {
  let markets: Market[];
  let database: TestDatabase;
  let pipeline: Pipeline;

  beforeAll(async () => {
    const timestamp = Math.floor(Date.now() / 1000) - 4 * 86_400;
    markets = await Promise.all(
      ([1, 33139] as const).map((chainId) => openMarket({ chainId, timestamp })),
    );
    for (const { client, anvil } of markets) {
      await seedMarket(client, { chainId: anvil.chainId, seed: 7 });
      // A websocket announces new blocks only, so a chain without new blocks would never be recorded to its head.
      await client.setIntervalMining({ interval: 1 });
    }
    database = await createDatabase();
    pipeline = await startPipeline({
      databaseUrl: database.url,
      chains: markets.map(({ anvil }) => anvil),
    });
    await untilReady(pipeline);
  });

  afterAll(async () => {
    await pipeline?.stop();
    await database?.drop();
    for (const market of markets ?? []) await market.stop();
  });

  it("holds what the chains hold: facts, owners, balances, sales", async () => {
    await untilCanonical(database.db, markets);
  });
});

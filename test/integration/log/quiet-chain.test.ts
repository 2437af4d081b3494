import { afterAll, beforeAll, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { collectionAbi } from "#devnet/contracts/abis.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { untilCanonical } from "#test/support/database/canonical.ts";
import { type Pipeline, startPipeline } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

/** More blocks than Ponder fetches when one is announced, and than are not final yet. */
const quietBlocks = 120;

let market: Market;
let database: TestDatabase;
let pipeline: Pipeline;
beforeAll(async () => {
  const timestamp = Math.floor(Date.now() / 1000) - 86_400;
  market = await openMarket({ chainId: 1, timestamp });
  for (let id = 1n; id <= 3n; id += 1n) {
    await mint(id);
    await market.client.mine({ blocks: quietBlocks / 3 });
  }
  await mint(4n);
  database = await createDatabase();
  pipeline = await startPipeline({
    ...{ databaseUrl: database.url, chains: [market.anvil] },
    roles: ["projector", "indexer"],
  });
});
afterAll(async () => {
  await pipeline?.stop();
  await database?.drop();
  await market?.stop();
});

const mint = async (id: bigint) =>
  market.client.waitForTransactionReceipt({
    hash: await market.client.writeContract({
      ...{ address: contracts.punks, abi: collectionAbi, functionName: "mint" },
      ...{ args: [accounts.alice.address, id], account: accounts.alice, chain: null },
    } as never),
  });

it("a chain that makes no further block is recorded up to its head", async () => {
  const head = await market.client.getBlockNumber();
  await untilCanonical(database.db, [market]);
  expect(await market.client.getBlockNumber()).toBe(head);
});

it("a block that replaced the last one is recorded before there is another", async () => {
  const { transactions } = await market.client.getBlock({ includeTransactions: true });
  const [hash] = transactions.map((transaction) => transaction.hash);
  const raw = await market.client.request({
    method: "eth_getRawTransactionByHash",
    params: [hash],
  } as never);
  const before = await market.client.getBlock();
  await market.client.setCoinbase({ address: accounts.feeRecipient });
  await market.client.request({ method: "anvil_reorg", params: [1, [[raw, 0]]] } as never);
  const after = await market.client.getBlock();
  expect([after.number, after.transactions]).toEqual([before.number, [hash]]);
  expect(after.hash).not.toBe(before.hash);
  await untilCanonical(database.db, [market]);
});

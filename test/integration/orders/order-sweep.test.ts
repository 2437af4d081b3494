import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { createChangingContracts } from "#jobs/orders/changing-contracts.ts";
import { orderSweep } from "#jobs/orders/sweep-orders.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";
import { addressOf, block, type ChainEvent } from "#test/support/database/given.ts";
import { givenBid, givenListing } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
/** More than two batches of a scan. */
const listed = 500;
const endTime = BigInt(Math.floor(Date.now() / 1000)) + 86_400n;
const listingOf = (tokenId: number) =>
  givenListing({
    ...{ maker: addressOf(1), contract: contracts.punks, tokenId: BigInt(tokenId), endTime },
  });
/** `ownerOf(uint256)` in the data of a call. */
const ownerOfToken = /6352211e([0-9a-f]{64})/g;
const buyer = addressOf(2);
/** A trade in which the buyer spends. */
const tradeOf = (number: number): ChainEvent => ({
  kind: "order_fulfilled",
  block: block(1, number),
  logIndex: 0,
  contract: contracts.punks,
  orderHash: listingOf(number - 1).orderHash,
  from: addressOf(9),
  to: buyer,
});
let market: Market;
let node: RpcProxy;

beforeAll(async () => {
  await book.emptyTargets();
  await book.happens(
    ...Array.from({ length: listed }, (_, index) => listingOf(index).submitted),
    givenBid({ maker: buyer, contract: contracts.punks, endTime }).submitted,
  );
  market = await openMarket({ chainId: 1, stocked: true });
  node = await startRpcProxy(market.anvil.rpcUrl);
});
afterAll(async () => {
  await node?.close();
  await market?.stop();
  await book.drop();
});

it("an order that facts leave uncertain is checked before the next batch of a scan", async () => {
  const ending = new AbortController();
  const changed = createSignal();
  /** Tokens whose owner was asked for before the buyer's funds were. */
  const scanned = new Set<string>();
  node.before = async (calls) => {
    const text = JSON.stringify(calls);
    const isFirst = scanned.size === 0;
    if (text.includes(buyer.slice(2))) ending.abort();
    if (ending.signal.aborted) return;
    for (const [, tokenId = ""] of text.matchAll(ownerOfToken)) scanned.add(tokenId);
    if (!isFirst || scanned.size === 0) return;
    // The buyer spends in a trade while the first batch is under way.
    await book.happens(tradeOf(1));
    changed.notify();
  };
  const logger = pino({ level: "silent" });
  const sweep = orderSweep({
    ...{ db: book.db, changeSignal: changed, intervalMs: 1, logger },
    client: openChainClient({ chainId: 1, rpcUrls: [node.url] }),
    changing: createChangingContracts(20),
  });
  await runJobs(sweep, { logger, signal: ending.signal });

  expect(scanned.size).toBeGreaterThan(0);
  expect(scanned.size).toBeLessThanOrEqual(200);
});

it("a scan that fails is tried again when it is due, not at every change of the book", async () => {
  const ending = new AbortController();
  const changed = createSignal();
  /** What checks asked about, in turn. */
  const asked: string[] = [];
  let trades = 0;
  const trade = async () => {
    trades += 1;
    if (trades > 2) return ending.abort();
    await book.happens(tradeOf(trades + 1));
    changed.notify();
  };
  node.before = async (calls) => {
    const text = JSON.stringify(calls);
    const about = text.includes(buyer.slice(2)) ? "buyer" : "scan";
    if (about === "scan" && text.match(ownerOfToken) === null) return;
    if (asked.at(-1) !== about) asked.push(about);
    if (about === "scan") throw new Error("The node is down");
    await trade();
  };
  const logger = pino({ level: "warn" }, { write: () => void (trades === 0 && trade()) });
  const sweep = orderSweep({
    ...{ db: book.db, changeSignal: changed, intervalMs: 3_000, logger },
    client: openChainClient({ chainId: 1, rpcUrls: [node.url] }),
    changing: createChangingContracts(20),
  });
  await runJobs(sweep, { logger, signal: ending.signal });

  expect(asked).toEqual(["scan", "buyer"]);
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { createChangingContracts } from "#jobs/orders/changing-contracts.ts";
import { checkOrders } from "#jobs/orders/check-orders.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { readFactsAfter } from "#projections/log/facts.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { readOrdersByStatus } from "#projections/orders/read-orders-to-recheck.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type GivenOrder, givenListing } from "#test/support/orders/order-facts.ts";
import {
  givenPartnerOrder,
  partnerListingOf,
  seen,
  zeroConduit,
} from "#test/support/orders/partner-orders.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const now = new Date();
let market: Market;
let chain: ChainClient;

beforeAll(async () => {
  await book.emptyTargets();
  market = await openMarket({ chainId: 1, stocked: true });
  chain = openChainClient({ chainId: 1, rpcUrls: [market.anvil.rpcUrl] });
});
afterAll(async () => {
  await market?.stop();
  await book.drop();
});

/** Kinds of the readings that are in the log. */
async function readingsIn(): Promise<number[]> {
  const kinds = [71, 72, 73, 74, 75, 78, 79, 80];
  const facts = await readFactsAfter(book.db, { after: 0n, kinds, chainIds: [1] }, 1_000_000n, 100);
  return facts.map(({ kind }) => kind).sort();
}

const changing = createChangingContracts(20);
async function changesOf(...orders: GivenOrder[]): Promise<number> {
  const hashes = orders.map(({ orderHash }) => orderHash);
  return (await checkOrders(book.db, { client: chain, changing }, hashes, now)).changed;
}

const state = (order: GivenOrder) => book.state("listings.listing", order);

it("what a partner shows is looked at on the chain for what the log does not tell, and for nothing that nobody knows", async () => {
  const alice = market.actors.alice.address.toLowerCase() as `0x${string}`;
  const endTime = BigInt(Math.floor(now.getTime() / 1000)) + 86_400n;
  const terms = { maker: alice, contract: contracts.punks, tokenId: 1n, endTime };
  const common = givenPartnerOrder(terms);
  const foreign = givenPartnerOrder({ ...terms, conduitKey: zeroConduit });
  const own = givenListing({ ...terms, unitPriceWei: 7n });
  await book.happens(seen(partnerListingOf("opensea", foreign)));
  const unknown = await state(foreign);
  const news = [await changesOf(foreign)];
  await book.happens(seen(partnerListingOf("magiceden", common)));
  const first = [unknown, await state(foreign), await state(common)];
  const asked = await readingsIn();
  news.push(await changesOf(common, foreign));
  await book.happens(own.submitted);

  expect(first).toEqual(["inactive not_owner", "active", "inactive not_approved"]);
  expect(asked).toEqual([factKind.owner_read]);
  expect(news).toEqual([1, 1]);
  expect(await state(common)).toBe("active");
  expect(await changesOf(common, foreign)).toBe(0);
});

it("each marketplace's open orders are walked over apart", async () => {
  const found = await Promise.all(
    (["listings", "opensea", "magiceden"] as const).map((name) =>
      readOrdersByStatus(book.db, { source: name, chainId: 1, status: "active" }, null, 10),
    ),
  );

  expect(found.map((orders) => orders.length)).toEqual([1, 1, 1]);
  const [last = null] = found[2] ?? [];
  expect(
    await readOrdersByStatus(
      book.db,
      { source: "magiceden", chainId: 1, status: "active" },
      last,
      10,
    ),
  ).toEqual([]);
});

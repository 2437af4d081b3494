import { pino } from "pino";
import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { seaportFunctions } from "#abis/seaport.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { createChangingContracts } from "#jobs/orders/changing-contracts.ts";
import { orderSweep } from "#jobs/orders/sweep-orders.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
} from "#test/support/database/given.ts";
import {
  approval,
  type GivenOrder,
  givenBid,
  givenListing,
  read,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { partnerListingOf, seen } from "#test/support/orders/partner-orders.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const endTime = BigInt(Math.floor(Date.now() / 1000)) + 86_400n;
const wei = 10n ** 18n;
const hourMs = 3_600_000;
let market: Market;
let maker: Address;
let bidder: Address;
let counter: bigint;

beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  const { alice, bob } = market.actors;
  maker = alice.address.toLowerCase() as Address;
  bidder = bob.address.toLowerCase() as Address;
  await alice.incrementsCounter();
  await bob.wraps(5n * wei);
  counter = await market.client.readContract({
    address: seaportAddresses["1.6"],
    abi: seaportFunctions,
    functionName: "getCounter",
    args: [alice.address],
  });
});
beforeEach(() => book.clear());
afterAll(async () => {
  await market?.stop();
  await book.drop();
});

type Step = () => Promise<unknown>;

/** Runs the jobs' sweep with one step after another, each when the sweep waits, until it has nothing left to do. */
const sweep = (...steps: Step[]) => sweepEvery(hourMs, steps);

async function sweepEvery(intervalMs: number, steps: readonly Step[] = []): Promise<void> {
  const ending = new AbortController();
  const left = [...steps];
  let waits = 0;
  const logger = pino({ level: "silent" });
  const job = orderSweep({
    ...{ db: book.db, intervalMs, logger },
    client: openChainClient({ chainId: 1, rpcUrls: [market.anvil.rpcUrl] }),
    changing: createChangingContracts(20),
    changeSignal: {
      async wait(atMostMs) {
        const step = left.shift();
        if (step !== undefined) await step();
        else if (atMostMs > intervalMs / 2 || waits > 100) ending.abort();
        waits += 1;
        return true;
      },
    },
  });
  await runJobs(job, { logger, signal: ending.signal });
  await book.happens();
}

/** A token of the maker, who has approved the conduit, and a listing of it signed with the counter of the chain. */
function givenMaker() {
  const token = { contract: contracts.punks, tokenId: 1n };
  const at = { at: block(1, 1) };
  return {
    facts: [
      transferred({ ...token, to: maker }, { ...at, log: 1 }),
      approval(token.contract, maker, true, { ...at, log: 2 }),
    ],
    listing: givenListing({ ...token, maker, endTime, counter }),
  };
}

const listingState = (order: GivenOrder) => book.state("listings.listing", order);

/** The chain's latest block, as a block of the log. */
async function latest(): Promise<Block> {
  const { number, hash, timestamp } = await market.client.getBlock();
  return { chainId: 1, number: Number(number), hash, timestamp: Number(timestamp) };
}

const tradeAt = (number: number): ChainEvent => ({
  kind: "order_fulfilled",
  block: block(1, number),
  logIndex: 7,
  contract: seaportAddresses["1.6"],
  orderHash: `0x${"77".repeat(32)}`,
  from: addressOf(9),
  to: bidder,
});

it("a partner's listing of a maker whose counter was raised before the log begins is active", async () => {
  const { facts, listing } = givenMaker();
  await sweep(() => book.happens(...facts, seen(partnerListingOf("opensea", listing))));

  expect(await listingState(listing)).toBe("active");
});

it("a partner's listing with a counter that its maker left is cancelled", async () => {
  const { facts, listing } = givenMaker();
  const left = givenListing({
    ...listing.terms,
    tokenId: 1n,
    maker,
    endTime,
    counter: counter - 1n,
  });
  await sweep(() => book.happens(...facts, seen(partnerListingOf("opensea", left))));

  expect(await listingState(left)).toBe("cancelled");
});

it("a counter whose reading was retracted while no jobs ran is read again", async () => {
  const { facts, listing } = givenMaker();
  const counted = read({ kind: "counter_read", maker, counter }, block(1, 2));
  await sweep(() => book.happens(...facts, listing.submitted, counted));
  const before = await listingState(listing);
  await book.retract(block(1, 2));
  const meanwhile = await listingState(listing);
  await sweep();

  expect([before, meanwhile, await listingState(listing)]).toEqual([
    "active",
    "cancelled",
    "active",
  ]);
});

it("a listing that is cancelled for want of a counter is found by the scans", async () => {
  const { facts, listing } = givenMaker();
  await book.happens(...facts, seen(partnerListingOf("opensea", listing)));
  const before = await listingState(listing);
  await sweep();
  const unread = await listingState(listing);
  await sweepEvery(0);

  expect([before, unread, await listingState(listing)]).toEqual([
    "cancelled",
    "cancelled",
    "active",
  ]);
});

it("a counter is read again until the node has left the block that was retracted", async () => {
  const { facts, listing } = givenMaker();
  const head = await latest();
  const states: (string | undefined)[] = [];
  const note = async () => void states.push(await listingState(listing));
  await sweep(
    () => book.happens(...facts, seen(partnerListingOf("opensea", listing))),
    async () => {
      await book.happens();
      await note();
      await book.retract(head);
      await note();
    },
    () => market.client.mine({ blocks: 1 }),
  );

  expect([...states, await listingState(listing)]).toEqual(["active", "cancelled", "active"]);
});

it("the funds of a buyer are read at the block of the trade, however late the node has it", async () => {
  const bid = givenBid({ maker: bidder, contract: contracts.punks, unitPriceWei: wei, endTime });
  const { number } = await latest();
  await book.happens(bid.submitted);
  await sweep(
    () => book.happens(tradeAt(number + 1)),
    () => market.actors.bob.allows(wei),
  );
  const state = await book.state("bids.bid", bid);
  await market.actors.bob.allows(0n);

  expect(state).toBe("active");
});

it("what happened while no jobs ran leaves no order unread, however much it was", async () => {
  const bid = givenBid({ maker: bidder, contract: contracts.punks, unitPriceWei: wei, endTime });
  await market.actors.bob.allows(wei);
  const { number } = await latest();
  await book.happens(bid.submitted);
  await sweep();
  const before = await book.state("bids.bid", bid);
  await book.happens(tradeAt(number));
  const others = Array.from({ length: 10_100 }, (_, index) => ({
    ...tradeAt(number),
    block: block(33139, 1),
    logIndex: index,
  }));
  await appendEvents(book.db, others);
  await book.happens();
  await sweep();
  const state = await book.state("bids.bid", bid);
  await market.actors.bob.allows(0n);

  expect([before, state]).toEqual(["inactive insufficient_balance", "active"]);
});

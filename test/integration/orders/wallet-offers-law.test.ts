import type { Hex } from "viem";
import { afterAll, beforeEach, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import type { Observation } from "#projections/log/append.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { type BidRow, readBids } from "#projections/orders/read-bids.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import {
  readWalletOffers,
  type TokenOffer,
  type WalletOfferCursor,
} from "#projections/tokens/read-wallet-offers.ts";
import { readWalletTokens, type WalletToken } from "#projections/tokens/read-wallet-tokens.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { addressOf, type Block, block, zeroAddress } from "#test/support/database/given.ts";
import { readsByPlan } from "#test/support/database/plans.ts";
import {
  cancelled,
  filled,
  type GivenOrder,
  givenBid,
  read,
  receivedAt,
  transferred,
} from "#test/support/orders/order-facts.ts";
import { type Fact, openProjectedLog } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const book = await openProjectedLog([ownershipProjection, bidsProjection, collectionsProjection]);
const { db } = book;
afterAll(() => book.drop());
beforeEach(() => book.clear());

const wallets = [addressOf(1), addressOf(2), addressOf(3)];
const singles = [addressOf(50), addressOf(51)];
const many = addressOf(52);
const ids = [1n, 2n, 3n, 4n, 5n];

const someBlock = (random: Random) =>
  block(1, random.int(1, 9), random.chance(0.2) ? "other" : "main");

/** One token, several, also such as nobody holds, or all of the contract. */
function someSubject(random: Random): { tokenId?: bigint; tokenIds?: bigint[] } {
  if (random.chance(0.4)) return { tokenId: random.pick(ids) };
  if (random.chance(0.5)) return {};
  return { tokenIds: random.shuffle([...ids, 1_024n, 9n ** 70n]).slice(0, random.int(1, 6)) };
}

function someBid(random: Random, salt: bigint): GivenOrder {
  const isMany = random.chance(0.4);
  const contract = isMany ? many : random.pick(singles);
  return givenBid({
    ...someSubject(random),
    maker: random.pick(wallets),
    contract,
    standard: isMany ? "erc1155" : "erc721",
    quantity: isMany ? BigInt(random.int(1, 4)) : 1n,
    unitPriceWei: BigInt(random.int(1, 6)) * 10_000n,
    royaltyWei: random.chance(0.3) ? 15_000n : 0n,
    endTime: receivedAt + BigInt(random.int(60, 140)),
    salt,
  });
}

function someReading(random: Random): ChainReading {
  const owner = random.pick(wallets);
  const wei = random.chance(0.8) ? 10n ** 9n : BigInt(random.int(0, 60_000));
  const kind = random.chance(0.5) ? "balance_read" : "allowance_read";
  return { kind, currency: wrappedNative[1], owner, wei };
}

function someEvent(random: Random, bid: GivenOrder, at: { at: Block; log: number }): Fact {
  const [from, to] = [random.pick([...wallets, zeroAddress]), random.pick(wallets)];
  const [contract, tokenId] = [random.pick(singles), random.pick(ids)];
  const units = BigInt(random.int(1, 4));
  return random.pick<() => Fact>([
    () => transferred({ contract, from, to, tokenId }, at),
    () => transferred({ contract, from, to, tokenId }, at),
    () => transferred({ contract: many, from, to, tokenId, units }, at),
    () => transferred({ contract: many, from: zeroAddress, to, tokenId, units }, at),
    () => ({
      ...transferred({ contract, from: zeroAddress, to, tokenId }, at),
      kind: "erc721_consecutive_transfer",
      amount: units,
    }),
    () => filled(bid, BigInt(random.int(1, Number(bid.quantity))), at),
    () => (random.chance(0.3) ? cancelled(bid, at) : read(someReading(random), at.at)),
    () => read(someReading(random), at.at),
  ])();
}

const submissionOf = ({ tokenSet, submitted }: GivenOrder) =>
  tokenSet === undefined ? [submitted] : [tokenSet, submitted];

type Offer = [contractId: number, tokenId: bigint, standard: number, net: bigint, units: bigint];

/** For each token the highest net over the bids of others that cover it and can be accepted. */
function expectedOffers(
  tokens: readonly WalletToken[],
  bids: readonly BidRow[],
  { wallet, isOn }: { wallet: Hex; isOn: (tokenId: bigint, bid: BidRow) => boolean },
) {
  return tokens
    .flatMap((held): Offer[] => {
      const nets = bids.flatMap((bid) => {
        const covers = bid.contractId === held.contractId && isOn(held.tokenId, bid);
        const isWhole = bid.kind === "single-token";
        const isEnough = !isWhole || (bid.filled === 0n && bid.quantity <= held.units);
        const isOpen = bid.status === "active" && bid.maker !== wallet;
        if (!covers || !isEnough || !isOpen || bid.standard !== held.standard) return [];
        return [{ bid, isWhole, isOfSome: bid.criteria !== null }];
      });
      const [best] = nets.sort(
        (a, b) =>
          Number(b.bid.sellerNetWei - a.bid.sellerNetWei) ||
          Number(b.isWhole) - Number(a.isWhole) ||
          Number(b.isOfSome) - Number(a.isOfSome) ||
          Number(a.bid.position - b.bid.position),
      );
      if (best === undefined) return [];
      const left = best.bid.quantity - best.bid.filled;
      const units = left < held.units ? left : held.units;
      return [[held.contractId, held.tokenId, held.standard, best.bid.sellerNetWei, units]];
    })
    .sort((a, b) => Number(b[3] - a[3]) || a[0] - b[0] || Number(a[1] - b[1]) || a[2] - b[2]);
}

const offerOf = ({ held, sellerNetWei, sellableUnits }: TokenOffer): Offer => [
  held.contractId,
  held.tokenId,
  held.standard,
  sellerNetWei,
  sellableUnits,
];

const filterOf = (wallet: Hex) => ({ chainId: 1, wallet, contractIds: null });

/** The whole list, by pages of three rows. */
async function offersOf(wallet: Hex, now: Date): Promise<Offer[]> {
  const offers: Offer[] = [];
  let after: WalletOfferCursor | null = null;
  for (;;) {
    const slice = { limit: 3, offset: 0, after };
    const page: Awaited<ReturnType<typeof readWalletOffers>> = await readWalletOffers(
      db,
      filterOf(wallet),
      slice,
      now,
    );
    offers.push(...(page?.rows ?? []).map(offerOf));
    const last = page?.rows.at(-1);
    if (last === undefined) {
      expect(offers.length).toBe(Number(page?.total));
      return offers;
    }
    after = { ...last.held, sellerNetWei: last.sellerNetWei };
  }
}

const idsOf = (tokenSet: Observation | undefined) =>
  (tokenSet?.payload as { tokenIds: string[] } | undefined)?.tokenIds;

/** Compares the offers of all wallets with the bids and tokens that there are; the most of one. */
async function compareOffers(bids: readonly GivenOrder[], now: Date): Promise<number> {
  const hashes = bids.map(({ orderHash }) => orderHash);
  const rows = await readBids(db, 1, hashes, now, new Set());
  const setOf = new Map(bids.map(({ orderHash, tokenSet }) => [orderHash, idsOf(tokenSet)]));
  const isOn = (tokenId: bigint, bid: BidRow) =>
    setOf.get(bid.orderHash)?.includes(`${tokenId}`) ??
    (bid.tokenId === null || bid.tokenId === tokenId);
  let most = 0;
  for (const wallet of wallets) {
    const slice = { limit: 1_000, after: null };
    const tokens = await readWalletTokens(db, filterOf(wallet), slice);
    const expected = expectedOffers(tokens, rows, { wallet, isOn });
    most = Math.max(most, expected.length);
    expect(await offersOf(wallet, now)).toEqual(expected);
  }
  return most;
}

it.each(seedsOf([1, 2, 3, 4]))(
  "a wallet's offers are the best bids that it can accept, at every position (history %i)",
  async (seed) => {
    const random = randomFrom(seed);
    const bids = Array.from({ length: 24 }, (_, index) => someBid(random, BigInt(index)));
    const funds = wallets.flatMap((owner) =>
      (["balance_read", "allowance_read"] as const).map((kind) =>
        read({ kind, currency: wrappedNative[1], owner, wei: 10n ** 9n }, block(1, 1)),
      ),
    );
    await book.happens(...funds);
    let [most, log] = [0, 0];
    for (let step = 1; step <= 120; step += 1) {
      log += 1;
      const next = bids[log % 3 === 0 ? log / 3 : -1];
      const event = () => someEvent(random, random.pick(bids), { at: someBlock(random), log });
      await book.happens(...(next === undefined ? [event()] : submissionOf(next)));
      if (random.chance(0.1)) await book.retract(someBlock(random));
      if (random.chance(0.1)) await book.readopt(someBlock(random));
      if (step % 6 !== 0) continue;
      const now = new Date(Number(receivedAt + BigInt(random.int(0, step))) * 1000);
      most = Math.max(most, await compareOffers(bids, now));
    }
    expect(most).toBeGreaterThan(3);
  },
);

it("each of a wallet's 5,000 tokens costs one look into an index", async () => {
  const [wallet = zeroAddress, bidder = zeroAddress] = wallets;
  const contracts = Array.from({ length: 20 }, (_, index) => addressOf(100 + index));
  const funds = (["balance_read", "allowance_read"] as const).map((kind) =>
    read({ kind, currency: wrappedNative[1], owner: bidder, wei: 10n ** 24n }, block(1, 1)),
  );
  const tokens = contracts.map(
    (contract, log): Fact => ({
      ...transferred({ contract, to: wallet, tokenId: 1n }, { at: block(1, 2), log }),
      kind: "erc721_consecutive_transfer",
      amount: 250n,
    }),
  );
  const bids = contracts.flatMap((contract, index) =>
    Array.from({ length: 40 }, (_, salt) =>
      givenBid({
        ...(salt % 4 !== 0 && { tokenId: BigInt(salt) }),
        ...{ maker: bidder, contract, salt: BigInt(salt) },
        unitPriceWei: BigInt(index + salt + 1) * 10_000n,
      }),
    ),
  );
  await book.happens(...funds, ...tokens, ...bids.map(({ submitted }) => submitted));
  const now = new Date(Number(receivedAt) * 1000);
  const slice = { limit: 51, offset: 0, after: null };
  const page = await readWalletOffers(db, filterOf(wallet), slice, now);
  expect(page?.total).toBe(5_000n);
  expect(page?.rows.length).toBe(51);
  const pages = await readsByPlan(db, (one) => readWalletOffers(one, filterOf(wallet), slice, now));
  // One look into an index of bids for each token, and one for each contract.
  expect(Math.max(pages.custom, pages.generic)).toBeLessThan(15_000);
});

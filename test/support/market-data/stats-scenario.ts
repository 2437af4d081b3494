import fc from "fast-check";
import { type Address, keccak256, stringToHex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { collectionStatsProjection } from "#projections/collections/collection-stats.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { floorSnapshotted, floorsProjection } from "#projections/collections/floors.ts";
import type { Observation } from "#projections/log/append.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { coinPricesProjection, priceTicked } from "#projections/prices/coin-prices.ts";
import { salesProjection } from "#projections/sales/sales.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, type Block, block, type ChainEvent, zeroAddress } from "../database/given.ts";
import {
  approval,
  cancelled,
  feeRecipient,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  ticked,
  transferred,
} from "../orders/order-facts.ts";
import { givenPartnerOrder, partnerListingOf, seen, withdrawn } from "../orders/partner-orders.ts";
import type { Fact } from "../orders/projected-log.ts";

const read = [
  ownershipProjection,
  collectionsProjection,
  coinPricesProjection,
  salesProjection({ feeRecipient }),
  listingsProjection,
  bidsProjection,
  floorsProjection,
];
export const statsProjections = [...read, collectionStatsProjection(read)];

/** `units` is an ERC-1155; the first two are sometimes one collection. */
const contracts = [1, 2, 3].map(addressOf);
const units = addressOf(3);
const makers = [50, 51, 52].map(addressOf);
const tokens = [1n, 2n, 3n];
/** A currency without a price, as USDC. */
const coin = addressOf(0xc0);

/** Hours apart: sales enter and leave windows. */
const heights = [1, 300, 600, 9_000, 60_000] as const;
export const blocks = heights.flatMap((number) => [block(1, number), block(1, number, "fork")]);
const firstBlock = 1_700_000_000 + 12;

/** Moments, unix seconds, by which orders begin and end and snapshots are taken: two a day apart, two a week. */
const moments = [3_600, 7_200, 90_000, 694_800, 10_000_000].map(
  (later) => Math.ceil((firstBlock + later) / 300) * 300,
);

type Terms = {
  contract: number;
  token: number;
  maker: number;
  price: number;
  from: number;
  to: number;
};
export type Step =
  | ({ does: "list" | "bid" } & Terms)
  | ({ does: "show"; isOpensea: boolean; isWrapped: boolean } & Terms)
  | { does: "hide"; order: number; isOpensea: boolean }
  | { does: "fill" | "cancel"; order: number; block: number }
  | {
      does: "trade";
      contract: number;
      seller: number;
      buyer: number;
      price: number;
      block: number;
      /** Not in the chain's currency. */
      isForeign?: boolean;
    }
  | { does: "burn"; contract: number; token: number; block: number }
  | { does: "move"; contract: number; token: number; to: number; block: number }
  | { does: "approve" | "revoke" | "fund"; contract: number; maker: number; block: number }
  | { does: "register"; family: number[]; verified: boolean }
  | { does: "price"; moment: number; price: number }
  | { does: "snapshot" | "tick"; moment: number; price: number }
  | { does: "drop" | "readopt"; block: number };

const at = (list: readonly unknown[]) => fc.nat({ max: list.length - 1 });
const terms = {
  contract: at(contracts),
  token: at(tokens),
  maker: at(makers),
  price: fc.integer({ min: 1, max: 4 }),
  from: fc.oneof({ weight: 4, arbitrary: fc.constant(-1) }, fc.nat({ max: 2 })),
  to: fc.oneof({ weight: 3, arbitrary: fc.constant(4) }, at(moments)),
};
const steps = [
  [6, fc.record({ does: fc.constant("list" as const), ...terms })],
  [2, fc.record({ does: fc.constant("bid" as const), ...terms })],
  [
    3,
    fc.record({
      does: fc.constant("show" as const),
      isOpensea: fc.boolean(),
      isWrapped: fc.boolean(),
      ...terms,
    }),
  ],
  [
    2,
    fc.record({
      does: fc.constant("hide" as const),
      order: fc.nat(9),
      isOpensea: fc.boolean(),
    }),
  ],
  [
    4,
    fc.record({
      does: fc.constantFrom("fill" as const, "cancel" as const),
      order: fc.nat(9),
      block: at(blocks),
    }),
  ],
  [
    8,
    fc.record({
      does: fc.constant("trade" as const),
      contract: at(contracts),
      seller: at(makers),
      buyer: at(makers),
      price: fc.integer({ min: 1, max: 4 }),
      block: at(blocks),
      isForeign: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
  ],
  [
    3,
    fc.record({
      does: fc.constant("burn" as const),
      contract: at(contracts),
      token: at(tokens),
      block: at(blocks),
    }),
  ],
  [
    5,
    fc.record({
      does: fc.constant("move" as const),
      contract: at(contracts),
      token: at(tokens),
      to: at(makers),
      block: at(blocks),
    }),
  ],
  [
    5,
    fc.record({
      does: fc.constantFrom(
        "approve" as const,
        "approve" as const,
        "revoke" as const,
        "fund" as const,
      ),
      contract: at(contracts),
      maker: at(makers),
      block: at(blocks),
    }),
  ],
  [
    1,
    fc.record({
      does: fc.constant("register" as const),
      family: fc.uniqueArray(at(contracts), { minLength: 1, maxLength: 2 }),
      verified: fc.boolean(),
    }),
  ],
  [
    1,
    fc.record({
      does: fc.constant("price" as const),
      moment: at(heights),
      price: fc.integer({ min: 1, max: 9 }),
    }),
  ],
  [
    5,
    fc.record({
      does: fc.constantFrom("snapshot" as const, "snapshot" as const, "tick" as const),
      moment: fc.nat({ max: 3 }),
      price: fc.nat(3),
    }),
  ],
  [3, fc.record({ does: fc.constantFrom("drop" as const, "readopt" as const), block: at(blocks) })],
] as const;

export const story: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    ...steps.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary as fc.Arbitrary<Step> })),
  ),
  { minLength: 10, maxLength: 45 },
);

function nth<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
}

/** In a block that stays: each maker holds a token of every contract, has approved them and can pay. */
export function opening(): Fact[] {
  const where = block(1, 0);
  return makers.flatMap((maker, who) => [
    ...funded(maker, where, who * 2),
    ...contracts.flatMap((contract, place) => [
      approval(contract, maker, true, { at: where, log: 10 + place * 10 + who }),
      transferred(moved(contract, nth(tokens, who), maker), {
        at: where,
        log: 50 + place * 10 + who,
      }),
    ]),
  ]);
}

function moved(contract: Address, tokenId: bigint, to: Address, from: Address = zeroAddress) {
  return { contract, from, to, tokenId, ...(contract === units ? { units: 2n } : {}) };
}

function funded(maker: Address, where: Block, log: number): ChainEvent[] {
  const wrapped = { block: where, contract: wrappedNative[1], amount: 10n ** 20n };
  return [
    { ...wrapped, kind: "wrapped_deposit", logIndex: log, to: maker },
    {
      ...wrapped,
      kind: "erc20_approval",
      logIndex: log + 1,
      from: maker,
      to: seaportAddresses["1.6"],
    },
  ];
}

type BlockStep = Extract<Step, { does: "drop" | "readopt" }>;
type FactStep = Exclude<Step, BlockStep>;

const isOfBlock = (step: Step): step is BlockStep =>
  step.does === "drop" || step.does === "readopt";

/** The story's facts, step by step; a step that drops or brings back a block is its own. */
export function tellStory(
  steps: readonly Step[],
): (Fact[] | { state: "drop" | "readopt"; block: Block })[] {
  const orders: GivenOrder[] = [];
  const last: Snapshot[] = [];
  return steps.map((step, index) =>
    isOfBlock(step)
      ? { state: step.does, block: nth(blocks, step.block) }
      : factsOf(step, index + 1, orders, last),
  );
}

function factsOf(
  step: FactStep,
  index: number,
  orders: GivenOrder[],
  snapshots: Snapshot[],
): Fact[] {
  switch (step.does) {
    case "list":
    case "bid": {
      const order =
        step.does === "list" ? givenListing(listingTerms(step, index)) : bidOf(step, index);
      orders.push(order);
      return [order.submitted];
    }
    case "show": {
      const order = givenPartnerOrder({ ...listingTerms(step, index), isWrapped: step.isWrapped });
      orders.push(order);
      return [seen(partnerListingOf(partnerOf(step), order))];
    }
    case "hide": {
      const order = orders.at(step.order % Math.max(orders.length, 1));
      return order?.terms.side === "ask"
        ? [withdrawn(partnerListingOf(partnerOf(step), order))]
        : [];
    }
    case "fill":
    case "cancel": {
      const order = orders.at(step.order % Math.max(orders.length, 1));
      if (order === undefined) return [];
      const place = { at: nth(blocks, step.block), log: index };
      return [step.does === "fill" ? filled(order, 1n, place) : cancelled(order, place)];
    }
    case "trade":
      return [trade(step, index)];
    case "move": {
      const contract = nth(contracts, step.contract);
      const transfer = moved(contract, nth(tokens, step.token), nth(makers, step.to));
      return [transferred(transfer, { at: nth(blocks, step.block), log: index })];
    }
    case "burn": {
      const contract = nth(contracts, step.contract);
      const burned = moved(contract, nth(tokens, step.token), zeroAddress, nth(makers, step.token));
      return [transferred(burned, { at: nth(blocks, step.block), log: index })];
    }
    case "approve":
    case "revoke": {
      const place = { at: nth(blocks, step.block), log: index };
      const contract = nth(contracts, step.contract);
      return [approval(contract, nth(makers, step.maker), step.does === "approve", place)];
    }
    case "fund":
      return funded(nth(makers, step.maker), nth(blocks, step.block), 1_000 + index * 2);
    case "register":
      return [
        registered(
          step.family.map((one) => nth(contracts, one)),
          step.verified,
          index,
        ),
      ];
    case "price": {
      const minuteMs = Math.floor((1_700_000_000 + nth(heights, step.moment) * 12) / 60) * 60_000;
      const priceE8 = BigInt(step.price) * 10n ** 8n + 7n;
      return [priceTicked({ coin: "ethereum", minuteMs, priceE8, sources: [] })];
    }
    case "tick":
      return [ticked(BigInt(nth(moments, step.moment)))];
    case "snapshot":
      return [snapshotOf(step, snapshots)];
  }
}

/** One token changes hands between few wallets, sometimes one: most such sales are wash trades, some by later ones. */
function trade(step: Extract<Step, { does: "trade" }>, index: number): Fact {
  const terms = { ...step, maker: step.seller, token: 0, from: -1, to: 4 };
  const order = givenListing({ ...termsOf(terms, index), tokenId: nth(tokens, 0) });
  const place = { at: nth(blocks, step.block), log: index };
  return filled(step.isForeign ? paidIn(order, coin) : order, 1n, place, nth(makers, step.buyer));
}

/** The same order with another currency. */
function paidIn(order: GivenOrder, token: Address): GivenOrder {
  const { components } = order;
  const consideration = components.consideration.map((item) => ({ ...item, itemType: 1, token }));
  return { ...order, components: { ...components, consideration } };
}

type Snapshot = { takenAtMs: number; floors: ReadonlyMap<Address, bigint> };

/** The next snapshot; sometimes a late one. */
function snapshotOf(
  { moment, price }: { moment: number; price: number },
  snapshots: Snapshot[],
): Observation {
  const takenAtMs = nth(moments, moment === 0 ? 0 : Math.min(snapshots.length, 3)) * 1000;
  const base = snapshots.at(-1) ?? null;
  const floors = new Map(contracts.slice(0, price).map((one, rank) => [one, BigInt(rank + price)]));
  if (base === null || base.takenAtMs < takenAtMs) snapshots.push({ takenAtMs, floors });
  return floorSnapshotted({ chainId: 1, takenAtMs, floors, base });
}

const priceOf = (price: number) => BigInt(price) * 10n ** 17n;
const startOf = (from: number) => BigInt(from < 0 ? firstBlock - 3_600 : nth(moments, from));
const endOf = ({ from, to }: Terms) => BigInt(nth(moments, Math.max(to, from + 1)));

function termsOf(step: Terms, index: number) {
  const contract = nth(contracts, step.contract);
  return {
    contract,
    standard: contract === units ? ("erc1155" as const) : ("erc721" as const),
    maker: nth(makers, step.maker),
    unitPriceWei: priceOf(step.price),
    startTime: startOf(step.from),
    endTime: endOf(step),
    salt: BigInt(index),
  };
}

function listingTerms(step: Terms, index: number) {
  // Mostly of who holds the token.
  const maker = nth(makers, step.price < 4 ? step.token : step.maker);
  return { ...termsOf(step, index), maker, tokenId: nth(tokens, step.token) };
}

const partnerOf = ({ isOpensea }: { isOpensea: boolean }) => (isOpensea ? "opensea" : "magiceden");

function bidOf(step: Terms, index: number): GivenOrder {
  return givenBid({ ...termsOf(step, index), ...(step.token > 0 ? { tokenId: 1n } : {}) });
}

function registered(family: readonly Address[], verified: boolean, index: number): Observation {
  const [primary = contracts[0] ?? zeroAddress] = family;
  return {
    kind: "collection_registered",
    chainId: 1,
    contract: primary,
    identity: keccak256(stringToHex(`registered ${index}`)),
    recordedAt: new Date((firstBlock + index) * 1000),
    payload: { slug: `c${index}`, name: `Name ${index}`, verified, primary, contracts: family },
  };
}

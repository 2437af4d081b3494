import { type Address, maxUint256 } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { addressOf, block, zeroAddress } from "../support/database/given.ts";
import {
  approval,
  cancelled,
  channelUpdated,
  counterRaised,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  receivedAt,
  transferred,
} from "../support/orders/order-facts.ts";
import type { Happening } from "./happening.ts";
import { someElsewhere } from "./partners.ts";
import type { Random } from "./random.ts";

/** Few, so that what happens to one order happens to others too. */
export const makers = [addressOf(1), addressOf(2)];
export const single: Address = addressOf(50);
export const many: Address = addressOf(51);
export const tokens = [1n, 2n];
export const traded = [single, many];
const prices = [1_000n, 2_000n, 3_000n];

/** Seconds after `receivedAt` within which orders end. */
const lastSecond = 400;

/** Replaced when an event is mined. */
const anywhere = { at: block(1, 0) };

/** Orders of both sides that a chain's makers sign, whenever those are received. */
export function makeOrders(random: Random, chainId: ChainId, count: number): GivenOrder[] {
  return Array.from({ length: count }, (_, index) => {
    const tokenId = random.pick(tokens);
    const terms = { ...someTerms(random), chainId, salt: BigInt(index) };
    const give = random.chance(0.5) ? givenListing : someElsewhere(random);
    if (random.chance(0.5)) return give({ ...terms, tokenId });
    return givenBid(random.chance(0.5) ? { ...terms, tokenId } : terms);
  });
}

function someTerms(random: Random) {
  const nft = random.pick([
    { contract: single, standard: "erc721" as const, quantity: 1n },
    { contract: many, standard: "erc1155" as const, quantity: BigInt(random.int(1, 4)) },
  ]);
  const delaySeconds = random.pick([0, 0, random.int(1, 60)]);
  return {
    ...nft,
    maker: random.pick(makers),
    unitPriceWei: random.pick(prices),
    counter: random.chance(0.1) ? 1n : 0n,
    startTime: receivedAt + BigInt(delaySeconds),
    endTime: receivedAt + BigInt(random.int(61, lastSecond)),
  };
}

/** What makers need for some of their orders to be active: one has little, the other allows little of it to be taken. */
export function stock(chainId: ChainId): Happening[] {
  const contract = wrappedNative[chainId];
  return makers.flatMap((maker, index) => [
    transferred({ contract: single, to: maker, tokenId: tokens[index] ?? 0n }, anywhere),
    transferred({ contract: many, to: maker, tokenId: 1n, units: 5n }, anywhere),
    ...traded.map((one) => approval(one, maker, true, anywhere)),
    {
      kind: "wrapped_deposit" as const,
      contract,
      to: maker,
      amount: index === 0 ? 6_000n : 40_000n,
    },
    {
      kind: "erc20_approval" as const,
      contract,
      from: maker,
      to: seaportAddresses["1.6"],
      amount: index === 0 ? maxUint256 : 8_000n,
    },
  ]);
}

/** A transaction that concerns orders of the book. */
export function trade(
  random: Random,
  chainId: ChainId,
  orders: readonly GivenOrder[],
): Happening[] {
  const order = random.pick(orders);
  const maker = random.pick(makers);
  return random.pick<() => Happening[]>([
    () => fill(random, chainId, order),
    () => fill(random, chainId, order),
    () => [moved(random), moved(random)],
    () => [moved(random)],
    () => [approval(random.pick(traded), maker, random.chance(0.7), anywhere)],
    () => [funds(random, chainId), funds(random, chainId)],
    () => [funds(random, chainId)],
    () => [random.chance(0.5) ? cancelled(order, anywhere) : validated(order)],
    () => [random.chance(0.3) ? counterRaised(maker, 1n, anywhere) : moved(random)],
    () => [channelUpdated(random.chance(0.8), anywhere)],
  ])();
}

/** Some units change hands for their price; now and then of an order that the exchange fills without moving anything. */
function fill(random: Random, chainId: ChainId, order: GivenOrder): Happening[] {
  const { components, quantity } = order;
  const units = BigInt(random.int(1, Number(quantity)));
  const fulfilled = filled(order, units, anywhere);
  const taker = random.pick(makers);
  const isBid = components.offer[0]?.itemType === 1;
  if (random.chance(0.4)) return [fulfilled];
  if (!isBid) return [fulfilled, moved(random, components.offerer, taker)];
  const amount = (components.offer[0]?.startAmount ?? 0n) / quantity;
  return [
    {
      kind: "erc20_transfer",
      contract: wrappedNative[chainId],
      from: components.offerer,
      to: taker,
      amount: amount * units,
    },
    moved(random, taker, components.offerer),
    fulfilled,
  ];
}

function moved(
  random: Random,
  from = random.pick([...makers, zeroAddress]),
  to = random.pick(makers),
): Happening {
  const place = { from, to, tokenId: random.pick(tokens) };
  if (random.chance(0.2)) {
    const contract = single;
    return {
      ...place,
      contract,
      kind: "erc721_consecutive_transfer",
      amount: BigInt(random.int(1, 3)),
    };
  }
  return random.chance(0.5)
    ? transferred({ ...place, contract: single }, anywhere)
    : transferred({ ...place, contract: many, units: BigInt(random.int(1, 4)) }, anywhere);
}

/** What makers pay with comes, goes, or is allowed to be taken. */
function funds(random: Random, chainId: ChainId): Happening {
  const contract = wrappedNative[chainId];
  const [from, to] = [random.pick(makers), random.pick(makers)];
  const amount = BigInt(random.int(0, 8)) * 1_000n;
  return random.pick<Happening>([
    { kind: "erc20_transfer", contract, from, to, amount },
    { kind: "wrapped_deposit", contract, to, amount },
    { kind: "wrapped_withdrawal", contract, from, amount },
    {
      kind: "erc20_approval",
      contract,
      from,
      to: random.pick([seaportAddresses["1.6"], seaportAddresses["1.6"], zeroAddress]),
      amount: random.chance(0.2) ? maxUint256 : amount,
    },
  ]);
}

function validated({ components, orderHash }: GivenOrder): Happening {
  return {
    kind: "order_validated",
    contract: seaportAddresses["1.6"],
    from: components.offerer,
    orderHash,
    payload: { orderParameters: {} },
  };
}

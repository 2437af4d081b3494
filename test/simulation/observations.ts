import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { coins } from "#chains/coins.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import {
  type ContractFloors,
  floorSnapshotted,
  snapshotMs,
} from "#projections/collections/floors.ts";
import type { Observation } from "#projections/log/append.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { priceTicked } from "#projections/prices/coin-prices.ts";
import { addressOf, type Block } from "../support/database/given.ts";
import { type GivenOrder, read, receivedAt, ticked } from "../support/orders/order-facts.ts";
import { fetchMetadata } from "./documents.ts";
import { someCrossListing, someFee, someRoyalty, someSighting } from "./partners.ts";
import type { Random } from "./random.ts";
import { makers, many, single, tokens, traded } from "./trades.ts";

/** What an observer of a chain has seen and reported. */
export type Observed = {
  chainId: ChainId;
  orders: readonly GivenOrder[];
  /** Orders that were received. */
  received: GivenOrder[];
  /** Unix seconds of the newest tick. */
  clock: bigint;
  /** The last snapshot of the floors. */
  floors: { takenAtMs: number; floors: ContractFloors } | null;
};

/** The first full five minutes after the first block. */
const firstSnapshotMs = Number(receivedAt) * 1_000 + 100_000;
const hourMs = 3_600_000;

/** Something that no chain emitted. `places`: blocks it may be read at, dropped ones among them. */
export function observe(
  random: Random,
  observed: Observed,
  places: readonly Block[],
  turn: number,
): Observation[] {
  const at = places.length === 0 ? null : random.pick(places);
  return random.pick<() => Observation[]>([
    () => receive(random, observed),
    () => receive(random, observed),
    () => receive(random, observed),
    () => show(random, observed),
    () => show(random, observed),
    () => readChain(random, observed, at),
    () => readChain(random, observed, at),
    () => [goOn(random, observed)],
    () => [register(random, observed, turn)],
    () => (at === null ? [] : [describe(random, observed, at, turn)]),
    () => fetchMetadata(random, observed.chainId, turn),
    () => fetchMetadata(random, observed.chainId, turn),
    () => someCrossListing(random, someListing(random, observed)),
    () => [someFee(random, someListing(random, observed), turn)],
    () => someRoyalty(random, someListing(random, observed), at, turn),
    () => [price(random)],
    () => [snapshot(random, observed)],
  ])();
}

function receive(random: Random, { orders, received }: Observed): Observation[] {
  const some = random.shuffle(orders).slice(0, random.int(2, 7));
  received.push(...some.filter((order) => !received.includes(order)));
  return some.map(({ submitted }) => submitted);
}

function show(random: Random, { orders }: Observed): Observation[] {
  const some = random.shuffle(orders.filter(isListing)).slice(0, random.int(1, 5));
  return some.flatMap((order) => someSighting(random, order));
}

const isListing = ({ terms }: GivenOrder) => terms.side === "ask";

function someListing(random: Random, { orders }: Observed): GivenOrder {
  return random.pick(orders.filter(isListing));
}

function readChain(random: Random, { orders }: Observed, at: Block | null): Observation[] {
  if (at === null) return [];
  return Array.from({ length: random.int(1, 4) }, () =>
    read(reading(random, random.pick(orders)), at),
  );
}

function reading(random: Random, { chainId, orderHash, quantity }: GivenOrder): ChainReading {
  const [maker, owner] = [random.pick(makers), random.pick(makers)];
  const [contract, tokenId] = [random.pick(traded), random.pick(tokens)];
  const holds = random.chance(0.5);
  const filled = BigInt(random.int(0, Number(quantity)));
  const size = filled === 0n ? 0n : quantity;
  const wei = BigInt(random.int(0, 9)) * 1_000n;
  const currency = wrappedNative[chainId];
  return random.pick<ChainReading>([
    { kind: "order_status_read", orderHash, cancelled: random.chance(0.1), filled, size },
    { kind: "counter_read", maker, counter: random.chance(0.2) ? 1n : 0n },
    { kind: "approval_read", contract, owner, approved: holds },
    { kind: "owner_read", contract: single, tokenId, owner: holds ? owner : null },
    {
      kind: "units_read",
      contract: many,
      tokenId,
      owner,
      units: BigInt(random.int(0, 5)),
    },
    { kind: "balance_read", currency, owner, wei },
    { kind: "allowance_read", currency, owner, wei },
    { kind: "transfer_read", contract, tokenId, owner, allowed: holds },
    // By the maker, so that no other draw changes.
    maker === makers[0]
      ? { kind: "signature_read", orderHash, maker, valid: holds }
      : { kind: "recipients_read", orderHash, recipients: [owner], refusing: holds ? null : owner },
    { kind: "channel_read", open: random.chance(0.8) },
  ]);
}

/** Ticks come in order, or late. */
function goOn(random: Random, observed: Observed): Observation {
  if (random.chance(0.2)) return ticked(observed.clock - BigInt(random.int(1, 30)));
  observed.clock += BigInt(random.int(1, 60));
  return ticked(observed.clock);
}

/** A registration, which people decide. */
function register(random: Random, { chainId }: Observed, turn: number): Observation {
  const contract = someContract(random);
  return {
    ...fetched(chainId, turn),
    kind: "collection_registered",
    contract,
    payload: {
      slug: random.pick(["apes", "bears"]),
      name: `Registered in ${turn}`,
      verified: random.chance(0.5),
      contracts: [contract, someContract(random)],
    },
  };
}

function describe(random: Random, { chainId }: Observed, at: Block, turn: number): Observation {
  return {
    ...fetched(chainId, turn),
    kind: "contract_described",
    contract: someContract(random),
    basis: {
      number: BigInt(at.number),
      hash: at.hash,
      timestamp: new Date(at.timestamp * 1_000),
    },
    payload: {
      name: `Read in ${turn}`,
      symbol: null,
      standard: random.pick(["erc721", "erc1155", null]),
    },
  };
}

function price(random: Random): Observation {
  const minuteMs = Number(receivedAt) * 1_000 + 40_000 + random.int(-90, 90) * 60_000;
  const priceE8 = BigInt(random.int(1, 4_000)) * 10n ** 8n;
  return priceTicked({ coin: random.pick(coins), minuteMs, priceE8, sources: [] });
}

/** Contracts are known from the orders that list them. Now and then nobody knew of the last one. */
function snapshot(random: Random, observed: Observed): Observation {
  const { chainId, received, floors: base } = observed;
  const apart = random.pick([snapshotMs, snapshotMs, 6 * hourMs, 50 * hourMs, 500 * hourMs]);
  const takenAtMs = base === null ? firstSnapshotMs : base.takenAtMs + apart;
  const known = new Set(received.map(({ submitted }) => submitted.contract));
  const listed = traded.filter((contract) => known.has(contract) && random.chance(0.7));
  const floors = new Map(listed.map((one) => [one, BigInt(random.int(1, 9)) * 1_000n] as const));
  const isForgetful = random.chance(0.1);
  if (!isForgetful || base === null) observed.floors = { takenAtMs, floors };
  return floorSnapshotted({ chainId, takenAtMs, floors, base: isForgetful ? null : base });
}

function someContract(random: Random): Address {
  return addressOf(50 + random.int(0, 3));
}

function fetched(chainId: ChainId, turn: number) {
  const identity: Hex = keccak256(stringToHex(`observed ${chainId} ${turn}`));
  return { chainId, identity, recordedAt: new Date(1_800_000_000_000 + turn * 1_000) };
}

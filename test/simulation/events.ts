import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { addressOf, zeroAddress } from "../support/database/given.ts";
import { exchangeSales } from "./exchanges/exchange-sales.ts";
import type { Happening } from "./happening.ts";
import type { Random } from "./random.ts";

export const feeRecipient: Address = addressOf(99);

const dead: Address = "0x000000000000000000000000000000000000dead";
const maximum = 2n ** 256n - 1n;
const people = Array.from({ length: 6 }, (_, index) => addressOf(index));
const contracts = Array.from({ length: 4 }, (_, index) => addressOf(50 + index));
const tokenIds = [0n, 1n, 2n, 3n, 4n, 5n, 6n, maximum];

const anyone = (random: Random) => random.pick([...people, ...people, zeroAddress, dead]);

/** What one transaction emits. Nothing makes it lawful: contracts may emit what they like. */
export function transaction(random: Random, chainId: number): Happening[] {
  const sales = [fill, fill, match, ...Array.from({ length: 12 }, () => exchangeSales)];
  return random.pick([transfers, transfers, batch, cancel, bystander, ...sales])(random, chainId);
}

function transfers(random: Random): Happening[] {
  return Array.from({ length: random.int(1, 3) }, () =>
    random.pick([single721, single721, range, single1155])(random),
  );
}

function single721(random: Random): Happening {
  const contract = random.pick(contracts);
  return {
    kind: "erc721_transfer",
    contract,
    tokenId: random.pick(tokenIds),
    from: anyone(random),
    to: anyone(random),
  };
}

/** ERC-2309, now and then with its end before its start, or at the last ids there are. */
function range(random: Random): Happening {
  const amount = BigInt(random.pick([1, 2, 5, 12, 0, -3]));
  const contract = random.pick(contracts);
  const tokenId = random.pick([0n, 2n, 4n, maximum - 3n]);
  const left = maximum - tokenId + 1n;
  return {
    kind: "erc721_consecutive_transfer",
    contract,
    tokenId,
    amount: amount > left ? left : amount,
    from: random.chance(0.7) ? zeroAddress : anyone(random),
    to: anyone(random),
  };
}

function single1155(random: Random): Happening {
  return {
    kind: "erc1155_transfer",
    contract: random.pick(contracts),
    tokenId: random.pick(tokenIds),
    amount: random.chance(0.1) ? maximum : BigInt(random.int(0, 20)),
    from: anyone(random),
    to: anyone(random),
  };
}

/** The elements of one TransferBatch: one log, several facts. */
function batch(random: Random): Happening[] {
  const first = single1155(random);
  return Array.from({ length: random.int(1, 4) }, (_, subIndex) => {
    const { tokenId, amount } = single1155(random);
    return {
      ...first,
      subIndex,
      ...(tokenId === undefined ? {} : { tokenId }),
      ...(amount === undefined ? {} : { amount }),
    };
  });
}

type Item = { itemType: number; token: Address; identifier: string; amount: string };
type Order = {
  maker: Address;
  taker: Address;
  offer: Item[];
  consideration: (Item & { recipient: Address })[];
};

const nft = (random: Random): Item => {
  const itemType = random.pick([2, 3]);
  const units = itemType === 2 ? 1 : random.int(1, 5);
  return {
    itemType,
    token: random.pick(contracts),
    identifier: random.pick(tokenIds).toString(),
    amount: units.toString(),
  };
};

function money(random: Random, chainId: number): Item {
  const wei = random.chance(0.05) ? maximum : random.int(0, 10_000);
  const wrapped = wrappedNative[chainId === 1 ? 1 : 33139];
  const [itemType, token] = random.pick([
    [0, zeroAddress],
    [1, wrapped],
    [1, addressOf(80)],
  ] as const);
  return { itemType, token, identifier: "0", amount: wei.toString() };
}

function ask(random: Random, chainId: number, nfts: Item[]): Order {
  const maker = random.pick(people);
  const price = money(random, chainId);
  const fee = { ...price, amount: "100", recipient: random.pick([feeRecipient, addressOf(98)]) };
  return {
    maker,
    taker: random.pick(people),
    offer: nfts,
    consideration: [{ ...price, recipient: maker }, ...(random.chance(0.7) ? [fee] : [])],
  };
}

function bid(random: Random, chainId: number, nfts: Item[]): Order {
  const maker = random.pick(people);
  return {
    maker,
    taker: random.pick(people),
    offer: [money(random, chainId)],
    consideration: nfts.map((item) => ({ ...item, recipient: maker })),
  };
}

const nfts = (random: Random) =>
  Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => nft(random));

function fulfilled(random: Random, order: Order, exchange: Address): Happening {
  const { maker, taker, offer, consideration } = order;
  return {
    kind: "order_fulfilled",
    contract: exchange,
    orderHash: orderHash(random),
    from: maker,
    to: taker,
    payload: {
      zone: zeroAddress,
      offer,
      consideration,
      sender: taker,
      target: exchange,
      calldataTail: random.pick([null, "0x360c6ebe", "0x00000000"]),
    },
  };
}

function orderHash(random: Random): Hex {
  return keccak256(stringToHex(`order ${random.int(0, 2 ** 32 - 1)}`));
}

/** An order filled, its tokens moved; not all of them, nor always the named ones. */
function fill(random: Random, chainId: number): Happening[] {
  const exchange = random.pick(Object.values(seaportAddresses));
  const items = nfts(random);
  const order = random.pick([ask, bid])(random, chainId, items);
  const orders = random.chance(0.2) ? [order, ask(random, chainId, nfts(random))] : [order];
  return [...orders.map((one) => fulfilled(random, one, exchange)), ...transfers(random)];
}

/** Two orders settled against each other; the match may name one that is not there. */
function match(random: Random, chainId: number): Happening[] {
  const exchange = random.pick([seaportAddresses["1.5"], seaportAddresses["1.6"]]);
  const items = nfts(random);
  const pair = random
    .shuffle([ask(random, chainId, items), bid(random, chainId, items)])
    .map((order) => fulfilled(random, order, exchange));
  const hashes = pair.map((order) => order.orderHash);
  const named = random.chance(0.1) ? [...hashes, orderHash(random)] : hashes;
  const matched: Happening = {
    kind: "orders_matched",
    contract: exchange,
    payload: { orderHashes: named },
  };
  return [...transfers(random), ...pair, matched];
}

function cancel(random: Random): Happening[] {
  const from = random.pick(people);
  if (random.chance(0.3)) {
    const counter = BigInt(random.int(1, 9));
    return [
      { kind: "counter_incremented", contract: seaportAddresses["1.6"], from, amount: counter },
    ];
  }
  return Array.from({ length: random.int(1, 3) }, () => ({
    kind: "order_cancelled" as const,
    contract: seaportAddresses["1.6"],
    from,
    orderHash: orderHash(random),
    payload: { zone: zeroAddress },
  }));
}

/** What no projection of tokens reads. */
function bystander(random: Random, chainId: number): Happening[] {
  const contract = wrappedNative[chainId === 1 ? 1 : 33139];
  const from = random.pick(people);
  return [
    {
      kind: "approval_for_all",
      contract: random.pick(contracts),
      from,
      to: random.pick(people),
      amount: 1n,
    },
    { kind: "erc20_transfer", contract, from, to: random.pick(people), amount: maximum },
    { kind: "wrapped_deposit", contract, to: from, amount: 5n },
  ];
}

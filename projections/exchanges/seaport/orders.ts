import type { Address, Hex } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import type { ExchangeFact, ExchangeTransaction, NftStandard } from "../model/exchange.ts";

export type SeaportVersion = keyof typeof seaportAddresses;

/** An item as Seaport emits it; identifier and amount are decimal strings. */
export type SpentItem = {
  readonly itemType: number;
  readonly token: Address;
  readonly identifier: string;
  readonly amount: string;
};
export type ReceivedItem = SpentItem & { readonly recipient: Address };

/** One `OrderFulfilled`. */
export type FulfilledOrder = {
  readonly logIndex: number;
  readonly orderHash: Hex;
  readonly exchange: Address;
  readonly version: SeaportVersion;
  readonly offerer: Address;
  /** Who receives what the order offers; in matches who receives unclaimed items. Zero in matches of 1.1. */
  readonly recipient: Address;
  readonly zone: Address;
  readonly offer: readonly SpentItem[];
  readonly consideration: readonly ReceivedItem[];
};

/** One `OrdersMatched`: emitted from Seaport 1.2 on, after the fulfilments it names. */
export type OrdersMatched = {
  readonly logIndex: number;
  readonly exchange: Address;
  readonly orderHashes: readonly Hex[];
};

/** Seaport's events of one transaction, in log order. */
export type OrderTransaction = {
  readonly chainId: number;
  readonly hash: Hex;
  readonly sender: Address;
  /** Last four bytes of the calldata. */
  readonly calldataTail: Hex | null;
  readonly orders: readonly FulfilledOrder[];
  readonly matches: readonly OrdersMatched[];
};

/** The item type of ERC-721; those of currencies are below it. */
export const ERC721 = 2;

/** ERC-721 and ERC-1155 items; an event shows criteria items resolved, but with either type number. */
export function isNft(item: SpentItem): boolean {
  return item.itemType >= ERC721;
}

/** Items of ERC-1155, with an id and by criteria. */
export const erc1155Types: readonly number[] = [3, 5];

/** The standard of an NFT's item. */
export function standardOf({ itemType }: SpentItem): NftStandard {
  return erc1155Types.includes(itemType) ? "erc1155" : "erc721";
}

export const seaportVersions: ReadonlyMap<Address, SeaportVersion> = new Map(
  (["1.1", "1.4", "1.5", "1.6"] as const).map((version) => [seaportAddresses[version], version]),
);

type FulfilledPayload = {
  zone: Address;
  offer: SpentItem[];
  consideration: ReceivedItem[];
  sender: Address;
  calldataTail: Hex | null;
};

/** Null for a match without its fulfilments, which are recorded later. */
export function orderTransaction({
  chainId,
  hash,
  facts,
}: ExchangeTransaction): OrderTransaction | null {
  const fulfilled = facts.filter(({ kind }) => kind === factKind.order_fulfilled);
  const [first] = fulfilled;
  if (first === undefined) return null;
  const { sender, calldataTail } = first.payload as FulfilledPayload;
  const matched = facts.filter(({ kind }) => kind === factKind.orders_matched);
  return {
    chainId,
    hash,
    sender,
    calldataTail,
    orders: fulfilled.map(fulfilledOrder),
    matches: matched.map(ordersMatched),
  };
}

function fulfilledOrder(fact: ExchangeFact): FulfilledOrder {
  const { contract: exchange, from: offerer, to: recipient, logIndex, orderHash } = fact;
  const version = seaportVersions.get(exchange);
  if (version === undefined) throw new Error(`no Seaport known at ${exchange}`);
  if (!offerer || !recipient || !orderHash) throw new Error(`incomplete fill at log ${logIndex}`);
  const { zone, offer, consideration } = fact.payload as FulfilledPayload;
  return { logIndex, orderHash, exchange, version, offerer, recipient, zone, offer, consideration };
}

function ordersMatched({ logIndex, contract, payload }: ExchangeFact): OrdersMatched {
  const { orderHashes } = payload as { orderHashes: Hex[] };
  return { logIndex, exchange: contract, orderHashes };
}

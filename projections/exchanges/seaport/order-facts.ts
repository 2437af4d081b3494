import type { Address, Hex } from "viem";
import type { seaport } from "#abis/deployments.ts";
import type { NftStandard } from "../model/trade.ts";

export type SeaportVersion = keyof typeof seaport;

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

import { type Address, formatEther, type Hex, hashStruct, zeroAddress, zeroHash } from "viem";
import { type ChainId, coinSymbols, wrappedCoins } from "../chains.ts";

/** Seaport 1.6, the same on every chain. */
export const exchange: Address = "0x0000000000000068f116a894984e2db1123eb395";
/** The conduit that moves the NFTs of listings and of accepted bids, and its key. */
export const conduit: Address = "0x1e0049783f008a0085193e00003d00cd54003c71";
export const conduitKey: Hex = "0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000";
/** What bids are paid in. */
export const bidCurrency: Readonly<Record<ChainId, Address>> = wrappedCoins;

/** An amount of the chain's coin, native (the zero address) or wrapped: "0.95 WETH". */
export function formatAmount(chainId: ChainId, currency: Address, wei: bigint | string): string {
  const [native, wrapped] = coinSymbols[chainId];
  return `${formatEther(BigInt(wei))} ${isSame(currency, zeroAddress) ? native : wrapped}`;
}

export const itemType = { native: 0, erc20: 1, erc721: 2, erc1155: 3, anyErc721: 4, anyErc1155: 5 };

export type OfferItem = {
  itemType: number;
  token: Address;
  identifierOrCriteria: bigint;
  startAmount: bigint;
  endAmount: bigint;
};
export type ConsiderationItem = OfferItem & { recipient: Address };
export type OrderComponents = {
  offerer: Address;
  zone: Address;
  offer: readonly OfferItem[];
  consideration: readonly ConsiderationItem[];
  orderType: number;
  startTime: bigint;
  endTime: bigint;
  zoneHash: Hex;
  salt: bigint;
  conduitKey: Hex;
  counter: bigint;
};

const member = (type: string, name: string) => ({ type, name });
const offerItem = [
  member("uint8", "itemType"),
  member("address", "token"),
  member("uint256", "identifierOrCriteria"),
  member("uint256", "startAmount"),
  member("uint256", "endAmount"),
];

/** EIP-712 types of an order. */
export const orderTypes = {
  OrderComponents: [
    member("address", "offerer"),
    member("address", "zone"),
    member("OfferItem[]", "offer"),
    member("ConsiderationItem[]", "consideration"),
    member("uint8", "orderType"),
    member("uint256", "startTime"),
    member("uint256", "endTime"),
    member("bytes32", "zoneHash"),
    member("uint256", "salt"),
    member("bytes32", "conduitKey"),
    member("uint256", "counter"),
  ],
  OfferItem: offerItem,
  ConsiderationItem: [...offerItem, member("address", "recipient")],
};

export const domainOf = (chainId: number) => ({
  name: "Seaport",
  version: "1.6",
  chainId,
  verifyingContract: exchange,
});

/** By which the exchange and the API know an order. */
export function orderHash(components: OrderComponents): Hex {
  return hashStruct({
    data: components as never,
    primaryType: "OrderComponents",
    types: orderTypes,
  });
}

export const emptyOrder: OrderComponents = {
  offerer: zeroAddress,
  zone: zeroAddress,
  offer: [],
  consideration: [],
  orderType: 0,
  startTime: 0n,
  endTime: 0n,
  zoneHash: zeroHash,
  salt: 0n,
  conduitKey: zeroHash,
  counter: 0n,
};

/** Addresses and hashes differ in case only. */
export const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

import type { Address, Hex } from "viem";

/** Seaport's `ItemType`. */
export const itemType = {
  native: 0,
  erc20: 1,
  erc721: 2,
  erc1155: 3,
  erc721WithCriteria: 4,
  erc1155WithCriteria: 5,
} as const;

/** Seaport's `OrderType`: filled whole or in parts, by anybody or (restricted) as the order's zone allows. */
export const orderType = { fullOpen: 0, partialOpen: 1, fullRestricted: 2 } as const;

export type OfferItem = {
  itemType: number;
  token: Address;
  identifierOrCriteria: bigint;
  startAmount: bigint;
  endAmount: bigint;
};

export type ConsiderationItem = OfferItem & { recipient: Address };

/**
 * Whether the recipient's code, if it has any, is called when it gets the item: with ether, and with units of a given
 * ERC-1155 token. ERC-20 currencies and ERC-721 tokens are transferred without a call of the recipient.
 */
export const callsRecipient = ({ itemType: type, startAmount }: ConsiderationItem): boolean =>
  (type === itemType.native || type === itemType.erc1155) && startAmount > 0n;

/** What a maker signs. Amounts are for the whole order; times are unix seconds. */
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

export type SignedOrder = { components: OrderComponents; signature: Hex };

/** EIP-712 types of an order, members in the order Seaport hashes them. */
export const orderTypes = {
  OrderComponents: [
    { name: "offerer", type: "address" },
    { name: "zone", type: "address" },
    { name: "offer", type: "OfferItem[]" },
    { name: "consideration", type: "ConsiderationItem[]" },
    { name: "orderType", type: "uint8" },
    { name: "startTime", type: "uint256" },
    { name: "endTime", type: "uint256" },
    { name: "zoneHash", type: "bytes32" },
    { name: "salt", type: "uint256" },
    { name: "conduitKey", type: "bytes32" },
    { name: "counter", type: "uint256" },
  ],
  OfferItem: [
    { name: "itemType", type: "uint8" },
    { name: "token", type: "address" },
    { name: "identifierOrCriteria", type: "uint256" },
    { name: "startAmount", type: "uint256" },
    { name: "endAmount", type: "uint256" },
  ],
  ConsiderationItem: [
    { name: "itemType", type: "uint8" },
    { name: "token", type: "address" },
    { name: "identifierOrCriteria", type: "uint256" },
    { name: "startAmount", type: "uint256" },
    { name: "endAmount", type: "uint256" },
    { name: "recipient", type: "address" },
  ],
} as const;

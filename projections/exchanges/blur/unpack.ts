import { type Address, type Hex, numberToHex } from "viem";
import type { FeeRate } from "../model/rates.ts";
import type { Trade } from "../model/trade.ts";
import { UnresolvableEvent } from "../model/unresolved-event.ts";

/** What an event of the second exchange says of a fill. */
export type Execution = {
  readonly orderHash: Hex;
  /** Who made the order. */
  readonly trader: Address;
  readonly side: Trade["side"];
  readonly contract: Address;
  readonly tokenId: string;
  readonly units: bigint;
  /** Of all units. */
  readonly priceWei: bigint;
  /** Shares of the price that the seller does not get. */
  readonly rates: readonly FeeRate[];
  /** The taker's fee: on top of a listing's price, part of a bid's. */
  readonly takerRates: readonly FeeRate[];
};

/** Bits of a packed word, counted from the lowest. */
function bits(word: bigint, from: number, count: number): bigint {
  return (word >> BigInt(from)) & ((1n << BigInt(count)) - 1n);
}

const addressIn = (word: bigint): Address => numberToHex(bits(word, 0, 160), { size: 20 });

/** Side of an order by its type. */
export function sideOfType(type: bigint): Trade["side"] {
  if (type === 0n) return "ask";
  if (type === 1n) return "bid";
  throw new UnresolvableEvent("unknown_type");
}

type Packed = {
  orderHash: Hex;
  tokenIdListingIndexTrader: string;
  collectionPriceSide: string;
  takerFeeRecipientRate?: string;
  makerFeeRecipientRate?: string;
};

/**
 * Most significant first: token id (88 bits), listing index (8), trader (160); order type (8), price (88), collection
 * (160); of a fee its rate (96) and recipient (160). Always one unit.
 */
export function unpack(args: Packed): Execution {
  const token = BigInt(args.tokenIdListingIndexTrader);
  const price = BigInt(args.collectionPriceSide);
  return {
    orderHash: args.orderHash,
    trader: addressIn(token),
    side: sideOfType(bits(price, 248, 8)),
    contract: addressIn(price),
    tokenId: `${bits(token, 168, 88)}`,
    units: 1n,
    priceWei: bits(price, 160, 88),
    rates: rateIn(args.makerFeeRecipientRate),
    takerRates: rateIn(args.takerFeeRecipientRate),
  };
}

function rateIn(word: string | undefined): FeeRate[] {
  if (word === undefined) return [];
  const value = BigInt(word);
  return [{ recipient: addressIn(value), rate: bits(value, 160, 96) }];
}

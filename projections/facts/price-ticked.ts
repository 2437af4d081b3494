import { keccak256, stringToHex } from "viem";
import type { Coin } from "#chains/coins.ts";
import type { Observation } from "../log/append.ts";

/** Prices are whole numbers of 10⁻⁸ USD. */
export const priceDecimals = 8;

export type PriceSource = { name: string; priceE8: bigint };

export type PriceTick = {
  coin: Coin;
  /** Unix milliseconds of a whole minute. */
  minuteMs: number;
  priceE8: bigint;
  /** The exchanges that agree on it. */
  sources: readonly PriceSource[];
  /** Of prices from an exchange's history: the interval between them. */
  interval?: "1h";
};

/** One fact per coin and minute, from whichever process. */
export function priceTicked({
  coin,
  minuteMs,
  priceE8,
  sources,
  interval,
}: PriceTick): Observation {
  return {
    kind: "price_ticked",
    chainId: 0,
    identity: priceIdentity(coin, minuteMs),
    recordedAt: new Date(minuteMs),
    amount: priceE8,
    payload: {
      type: coin,
      sources: sources.map(({ name, priceE8: price }) => ({ name, price: price.toString() })),
      ...(interval === undefined ? {} : { interval }),
    },
  };
}

export function priceIdentity(coin: Coin, minuteMs: number) {
  return keccak256(stringToHex(`price_ticked/${coin}/${minuteMs / 60_000}`));
}

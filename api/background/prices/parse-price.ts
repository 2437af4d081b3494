import { formatUnits, parseUnits } from "viem";
import { priceDecimals } from "#projections/prices/coin-prices.ts";

const maxPrice = 10n ** 18n;

/** Parses an exchange's price into units of 10⁻⁸ USD, rounding smaller digits; undefined if invalid. */
export function parsePrice(written: unknown): bigint | undefined {
  const text = typeof written === "number" ? String(written) : written;
  if (typeof text !== "string" || !/^\d{1,12}(\.\d{1,30})?$/.test(text)) return undefined;
  const price = parseUnits(text, priceDecimals);
  return price > 0n && price < maxPrice ? price : undefined;
}

/** USD as a JSON number: the double nearest to the exact decimal, which prints as that decimal. */
export function displayPrice(priceE8: bigint): number {
  return Number(formatUnits(priceE8, priceDecimals));
}

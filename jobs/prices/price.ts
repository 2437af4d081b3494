import { formatUnits, parseUnits } from "viem";
import { type PriceSource, priceDecimals } from "#projections/prices/coin-prices.ts";

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

/** A price that differs from the median by more than 1/20 (5 %) is an outlier. */
const outlierDivisor = 20n;
/** Minimum number of agreeing prices. */
const minAgreeing = 2;

type AgreedPrice = { priceE8: bigint; sources: PriceSource[] };

/** The median without outliers beyond 5 % of the median of all. Null when fewer than two agree. */
export function agreeOnPrice(quotes: readonly PriceSource[]): AgreedPrice | null {
  if (quotes.length < minAgreeing) return null;
  const middle = medianOf(quotes);
  const sources = quotes.filter(({ priceE8 }) => {
    const distance = priceE8 > middle ? priceE8 - middle : middle - priceE8;
    return distance * outlierDivisor <= middle;
  });
  if (sources.length < minAgreeing) return null;
  return { priceE8: medianOf(sources), sources };
}

/** With an even count the mean of the two middle prices, rounded down. */
function medianOf(quotes: readonly PriceSource[]): bigint {
  const prices = quotes.map(({ priceE8 }) => priceE8).sort((a, b) => (a < b ? -1 : 1));
  const half = prices.length / 2;
  const [low = 0n, high = low] = prices.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  return (low + high) / 2n;
}

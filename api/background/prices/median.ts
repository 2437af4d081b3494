import type { PriceSource } from "#projections/prices/coin-prices.ts";

/** A price that differs from the median by more than 1/20 (5 %) is an outlier. */
const outlierDivisor = 20n;
/** Minimum number of agreeing prices. */
const minAgreeing = 2;

export type AgreedPrice = { priceE8: bigint; sources: PriceSource[] };

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

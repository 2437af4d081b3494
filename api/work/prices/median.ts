import type { PriceSource } from "../../../projections/facts/price-ticked.ts";

/** Further from the median than one part in this is an outlier: 5 %. */
const outlierPart = 20n;
/** Fewer that agree are no price. */
const leastAgreeing = 2;

export type Agreed = { priceE8: bigint; sources: PriceSource[] };

/** The median of those that agree: what lies more than 5 % from the median of all is left out. Null when fewer than two do. */
export function agreeOnPrice(quotes: readonly PriceSource[]): Agreed | null {
  if (quotes.length < leastAgreeing) return null;
  const middle = medianOf(quotes);
  const sources = quotes.filter(({ priceE8 }) => {
    const distance = priceE8 > middle ? priceE8 - middle : middle - priceE8;
    return distance * outlierPart <= middle;
  });
  if (sources.length < leastAgreeing) return null;
  return { priceE8: medianOf(sources), sources };
}

/** Of two in the middle their mean, rounded down. */
function medianOf(quotes: readonly PriceSource[]): bigint {
  const prices = quotes.map(({ priceE8 }) => priceE8).sort((a, b) => (a < b ? -1 : 1));
  const half = prices.length / 2;
  const [low = 0n, high = low] = prices.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  return (low + high) / 2n;
}

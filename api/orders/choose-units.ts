/** A listing among others, cheapest per unit first. */
type Offered = {
  askId: string;
  maker: string;
  contract: string;
  tokenId: bigint;
  unitPriceWei: bigint;
  fillable: bigint;
  /** Only all of its units can be bought. */
  isFilledWhole: boolean;
};

type Wanted = {
  /** Units. */
  count: bigint;
  /** Null: without limit. */
  budgetWei: bigint | null;
};

type Chosen = { askId: string; units: bigint; priceWei: bigint };

/**
 * The cheapest units that the budget pays for, by listing. Of a maker's listings of one token only the cheapest counts: it
 * may have the units once.
 */
export function chooseUnits(listings: readonly Offered[], { count, budgetWei }: Wanted): Chosen[] {
  const chosen: Chosen[] = [];
  const sellers = new Set<string>();
  let [left, leftWei] = [count, budgetWei];
  for (const listing of listings) {
    const { askId, maker, contract, tokenId, unitPriceWei } = listing;
    const seller = `${maker} ${contract} ${tokenId}`;
    const units = sellers.has(seller) ? 0n : unitsOf(listing, left, leftWei);
    if (units === 0n) continue;
    const priceWei = unitPriceWei * units;
    sellers.add(seller);
    chosen.push({ askId, units, priceWei });
    left -= units;
    leftWei = leftWei === null ? null : leftWei - priceWei;
  }
  return chosen;
}

/** How many units of one listing are bought with what is left. */
function unitsOf(listing: Offered, count: bigint, budgetWei: bigint | null): bigint {
  const { unitPriceWei, fillable, isFilledWhole } = listing;
  const isFree = budgetWei === null || unitPriceWei === 0n;
  const payable = isFree ? count : budgetWei / unitPriceWei;
  const units = [count, payable, fillable].reduce((least, one) => (one < least ? one : least));
  return isFilledWhole && units < fillable ? 0n : units;
}

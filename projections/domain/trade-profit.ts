/** Units of a token that were bought or sold. `wei`: what was paid, or what reached the seller. */
export type UnitTrade = {
  /** Tells the token from every other. */
  readonly token: string;
  readonly isPurchase: boolean;
  readonly units: bigint;
  readonly wei: bigint;
};

/** In wei. `earned` = `cost` + `profit` + `unbought`. */
export type TradeProfit = {
  spent: bigint;
  earned: bigint;
  /** What the units that were bought and sold again had cost. */
  cost: bigint;
  profit: bigint;
  /** What was earned with units that were not bought: their cost is not known. */
  unbought: bigint;
};

type Lot = { units: bigint; wei: bigint };

/**
 * Spent, earned and the profit of trades, in their order: of each token the units that were bought first are sold first.
 * Shares of an amount are rounded down, and what is left is of the units that remain, so that the sums are exact.
 */
export function profitOfTrades(trades: Iterable<UnitTrade>): TradeProfit {
  const sum: TradeProfit = { spent: 0n, earned: 0n, cost: 0n, profit: 0n, unbought: 0n };
  const lots = new Map<string, Lot[]>();
  for (const { token, isPurchase, units, wei } of trades) {
    const held = lots.get(token) ?? [];
    lots.set(token, held);
    if (isPurchase) {
      sum.spent += wei;
      held.push({ units, wei });
    } else {
      sum.earned += wei;
      sell(held, { units, wei }, sum);
    }
  }
  return sum;
}

/** Sells units out of the lots of their token, the oldest first. */
function sell(held: Lot[], sold: Lot, sum: TradeProfit): void {
  while (sold.units > 0n && held[0] !== undefined) {
    const [oldest] = held;
    const matched = oldest.units < sold.units ? oldest.units : sold.units;
    const cost = take(oldest, matched);
    sum.cost += cost;
    sum.profit += take(sold, matched) - cost;
    if (oldest.units === 0n) held.shift();
  }
  sum.unbought += sold.wei;
}

/** Takes units out of a lot; the wei that go with them. */
function take(lot: Lot, units: bigint): bigint {
  const wei = (lot.wei * units) / lot.units;
  lot.units -= units;
  lot.wei -= wei;
  return wei;
}

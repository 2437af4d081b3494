import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { profitOfTrades, type UnitTrade } from "./trade-profit.ts";

const trade = (price: fc.Arbitrary<bigint>) =>
  fc
    .record({
      token: fc.constantFrom("a", "b"),
      isPurchase: fc.boolean(),
      units: fc.bigInt({ min: 1n, max: 5n }),
      price,
    })
    .map(({ price, ...rest }) => ({ ...rest, wei: price * rest.units }));
/** Prices that every unit of a trade has alike. */
const trades = fc.array(trade(fc.bigInt({ min: 0n, max: 100n })), { maxLength: 40 });
/** Amounts that units do not divide. */
const oddTrades = trades.chain((all) =>
  fc.tuple(
    ...all.map((one) => fc.bigInt({ min: 0n, max: 1_000n }).map((wei) => ({ ...one, wei }))),
  ),
);

/** Each unit by itself: a queue of what the units cost that are held. */
function unitByUnit(all: readonly UnitTrade[]) {
  const queues = new Map<string, bigint[]>();
  const units = all.flatMap(({ token, isPurchase, units, wei }) =>
    Array.from({ length: Number(units) }, () => ({ token, isPurchase, wei: wei / units })),
  );
  const sum = { cost: 0n, profit: 0n, unbought: 0n };
  for (const { token, isPurchase, wei } of units) {
    const queue = queues.get(token) ?? [];
    queues.set(token, queue);
    const cost = isPurchase ? undefined : queue.shift();
    if (isPurchase) queue.push(wei);
    else if (cost === undefined) sum.unbought += wei;
    else {
      sum.cost += cost;
      sum.profit += wei - cost;
    }
  }
  return sum;
}

describe("profit by first-in-first-out", () => {
  it("is that of a queue of units for each token", () => {
    fc.assert(
      fc.property(trades, (all) => {
        expect(profitOfTrades(all)).toMatchObject(unitByUnit(all));
      }),
    );
  });

  it("loses no wei: what was earned is cost, profit and what was not bought", () => {
    fc.assert(
      fc.property(oddTrades, (all) => {
        const { spent, earned, cost, profit, unbought } = profitOfTrades(all);
        const sumOf = (isPurchase: boolean) =>
          all.reduce((sum, one) => sum + (one.isPurchase === isPurchase ? one.wei : 0n), 0n);
        expect([spent, earned]).toEqual([sumOf(true), sumOf(false)]);
        expect(cost + profit + unbought).toBe(earned);
        expect(cost <= spent && cost >= 0n && unbought >= 0n).toBe(true);
      }),
    );
  });

  it("of a wallet that sells all it bought and nothing else is what it earned less what it spent", () => {
    fc.assert(
      fc.property(oddTrades, fc.bigInt({ min: 0n, max: 1_000n }), (all, wei) => {
        const bought = all.map((one) => ({ ...one, isPurchase: true }));
        const sold = bought.map((one) => ({ ...one, isPurchase: false, wei }));
        const { spent, earned, profit, unbought } = profitOfTrades([...bought, ...sold]);
        expect([profit, unbought]).toEqual([earned - spent, 0n]);
      }),
    );
  });

  it("sells the older units first, and does not know the cost of those that came by a transfer", () => {
    const of = (isPurchase: boolean, units: bigint, wei: bigint) => ({
      ...{ token: "edition", isPurchase, units, wei },
    });
    const all = [of(true, 2n, 10n), of(true, 1n, 50n), of(false, 2n, 30n), of(false, 4n, 400n)];
    expect(profitOfTrades(all)).toEqual({
      ...{ spent: 60n, earned: 430n, cost: 60n, profit: 70n, unbought: 300n },
    });
  });
});

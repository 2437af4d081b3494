import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  noHistory,
  type OrderBudget,
  openOrderQuota,
  ownBudget,
  ownRowBudget,
  secondsUntilFree,
} from "./order-quotas.ts";

const now = new Date(1_700_000_000_000);
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const quota = (trades: number, days: number | null) =>
  openOrderQuota(100, { trades, firstTradeAt: days === null ? null : daysAgo(days) }, now, 10_000);

describe("a quota of open orders", () => {
  it("grows with trades, doubles within 30 days of the first, and has a maximum", () => {
    expect(openOrderQuota(100, noHistory, now, 10_000)).toBe(100);
    expect([quota(1, 0), quota(10, 0), quota(10, 15), quota(10, 30), quota(10, 900)]).toEqual([
      120, 300, 450, 600, 600,
    ]);
    expect(quota(500, 30)).toBe(10_000);
  });

  it("never shrinks with more trades or time", () => {
    const history = fc.tuple(fc.nat(500), fc.nat(400));
    fc.assert(
      fc.property(history, history, ([trades, days], [moreTrades, moreDays]) => {
        expect(quota(trades + moreTrades, days + moreDays)).toBeGreaterThanOrEqual(
          quota(trades, days),
        );
      }),
    );
  });
});

describe("a budget", () => {
  const budget: OrderBudget = ownBudget("maker", "0x0000000000000000000000000000000000000001", 100);
  const one = (pending: number) => ({ pending, amount: 1 });
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

  it("grants its capacity at once, then its rate: the wait that it names suffices and is needed", () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(50), (spent, pending) => {
        const spending = { spent, spentAt: now };
        const wait = secondsUntilFree(budget, spending, one(pending), now);
        expect(wait === 0).toBe(spent + pending + 1 <= budget.capacity);
        // Pending orders are not given back while they are pending: charged, they are.
        const charged = { spent: spent + pending, spentAt: now };
        expect(secondsUntilFree(budget, charged, one(0), later(wait))).toBe(0);
        if (wait > 1)
          expect(secondsUntilFree(budget, charged, one(0), later(wait - 2))).not.toBe(0);
      }),
    );
  });

  it("is not spent by a clock that runs behind", () => {
    expect(secondsUntilFree(budget, { spent: 10, spentAt: later(100) }, one(0), now)).toBe(0);
  });
});

describe("the budget of a maker's token sets", () => {
  const budget = ownRowBudget("0x0000000000000000000000000000000000000001", 100);
  const largest = 10_200;

  it("lets in its capacity, its rate and one set at most, whatever is tried when", () => {
    const tries = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 2, max: largest })), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(tries, (sets) => {
        let seconds = 0;
        let stored = 0;
        let spending = { spent: 0, spentAt: now };
        for (const [wait, amount] of sets) {
          seconds += wait;
          const at = new Date(now.getTime() + seconds * 1000);
          if (secondsUntilFree(budget, spending, { pending: 0, amount }, at) > 0) continue;
          const elapsed = (at.getTime() - spending.spentAt.getTime()) / 1000;
          const left = Math.max(0, spending.spent - elapsed * budget.perSecond);
          spending = { spent: left + amount, spentAt: at };
          stored += amount;
        }
        const most = budget.capacity + largest + seconds * budget.perSecond;
        expect(stored).toBeLessThanOrEqual(most + 1e-6);
      }),
    );
  });

  it("takes the largest set of whoever has stored none, and tells when the next fits", () => {
    expect(secondsUntilFree(budget, undefined, { pending: 0, amount: largest }, now)).toBe(0);
    const spending = { spent: largest, spentAt: now };
    const wait = secondsUntilFree(budget, spending, { pending: 0, amount: 10 }, now);
    const then = new Date(now.getTime() + wait * 1000);
    expect(wait).toBeGreaterThan(0);
    expect(secondsUntilFree(budget, spending, { pending: 0, amount: 10 }, then)).toBe(0);
  });
});

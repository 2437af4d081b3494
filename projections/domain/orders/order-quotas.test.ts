import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  noHistory,
  type OrderBudget,
  openOrderQuota,
  ownBudget,
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
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

  it("grants its capacity at once, then its rate: the wait that it names suffices and is needed", () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(50), (spent, pending) => {
        const spending = { spent, spentAt: now };
        const wait = secondsUntilFree(budget, spending, pending, now);
        expect(wait === 0).toBe(spent + pending + 1 <= budget.capacity);
        // Pending orders are not given back while they are pending: charged, they are.
        const charged = { spent: spent + pending, spentAt: now };
        expect(secondsUntilFree(budget, charged, 0, later(wait))).toBe(0);
        if (wait > 1) expect(secondsUntilFree(budget, charged, 0, later(wait - 2))).not.toBe(0);
      }),
    );
  });

  it("is not spent by a clock that runs behind", () => {
    expect(secondsUntilFree(budget, { spent: 10, spentAt: later(100) }, 0, now)).toBe(0);
  });
});

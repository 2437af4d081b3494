import type { IntakeCode } from "../../../../projections/domain/intake/intake-codes.ts";
import { rejectField } from "../../../../projections/domain/intake/reject-field.ts";
import {
  noHistory,
  type OrderBudget,
  type OrderQuotas,
  openOrderQuota,
  ownBudget,
  secondsUntilFree,
  sharedBudget,
} from "../../../../projections/domain/orders/order-quotas.ts";
import type { ParsedOrder } from "../../../../projections/domain/orders/parsed-order.ts";
import type { Rejection } from "../../../../projections/domain/rejection.ts";
import type { BatchTotals } from "./batch-totals.ts";
import { budgetKey } from "./order-budgets.ts";
import type { StoredQuotas } from "./stored-quotas.ts";

/** Whatever the history: what one maker or contract may cost. */
const maxOpenOrders = { maker: 10_000, contract: 1_000_000 };

export type QuotaContext = {
  quotas: OrderQuotas;
  stored: StoredQuotas;
  batchTotals: BatchTotals;
  now: Date;
};

type Quotas = { maker: number; contract: number; budgets: OrderBudget[] };

/** The quotas that an order falls under, and the budgets that it is charged to. */
export function quotasOf(
  { maker, contract }: ParsedOrder,
  { quotas, stored, now }: Omit<QuotaContext, "batchTotals">,
): Quotas {
  const makerHistory = stored.makers.get(maker) ?? noHistory;
  const history = stored.contracts.get(contract);
  const isTrusted = history?.isVerified === true;
  const quota = {
    maker: openOrderQuota(quotas.maker, makerHistory, now, maxOpenOrders.maker),
    contract: isTrusted
      ? maxOpenOrders.contract
      : openOrderQuota(quotas.contract, history ?? noHistory, now, maxOpenOrders.contract),
  };
  const isUntraded = !isTrusted && (history?.trades ?? 0) === 0;
  const budgets = [
    ownBudget("maker", maker, quota.maker),
    ...(isTrusted ? [] : [ownBudget("contract", contract, quota.contract)]),
    ...(isUntraded ? [sharedBudget("untraded", quotas.untradedPerDay)] : []),
    ...(makerHistory.trades === 0 ? [sharedBudget("newcomers", quotas.newcomersPerDay)] : []),
  ];
  return { ...quota, budgets };
}

/** Whether one more order of this maker and contract fits. */
export function validateQuotas(
  order: ParsedOrder,
  context: QuotaContext,
): Rejection<IntakeCode> | null {
  const { stored, batchTotals, now } = context;
  const { maker, contract, budgets } = quotasOf(order, context);
  const ofMaker = (stored.openOfMakers.get(order.maker) ?? 0) + batchTotals.orders(order.maker);
  if (ofMaker >= maker) return tooMany("the maker", "parameters.offerer", ofMaker, maker);
  const open = stored.contracts.get(order.contract)?.openOrders ?? 0;
  const ofContract = open + batchTotals.contractOrders(order.contract);
  if (ofContract >= contract) {
    return tooMany(`the contract ${order.contract}`, "parameters", ofContract, contract);
  }
  for (const budget of budgets) {
    const pending = batchTotals.charged(budget);
    const wait = secondsUntilFree(budget, stored.spending.get(budgetKey(budget)), pending, now);
    if (wait > 0) return rateLimited(budget, wait);
  }
  return null;
}

function tooMany(whose: string, field: string, open: number, most: number) {
  return rejectField("too_many_open_orders", {
    field,
    expected: `at most ${most} open orders`,
    actual: `${open}`,
    message: `${whose} has ${open} open orders; at present the maximum is ${most}, which grows with trades`,
  });
}

const descriptions: Readonly<Record<OrderBudget["subject"], string>> = {
  maker: "of this maker",
  contract: "for this contract",
  untraded: "for contracts that were never traded",
  newcomers: "of makers who never traded",
};

function rateLimited({ subject }: OrderBudget, wait: number): Rejection<IntakeCode> {
  const field =
    subject === "maker" || subject === "newcomers" ? "parameters.offerer" : "parameters";
  const message = `too many new orders ${descriptions[subject]}: the next one is accepted in ${wait} s`;
  const actual = "more at present";
  return {
    ...rejectField("rate_limited", {
      field,
      expected: "new orders within the budget",
      actual,
      message,
    }),
    retryAfterSeconds: wait,
  };
}

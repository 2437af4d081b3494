import type { Hex } from "viem";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { TokenSet } from "#projections/tokens/read-token.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import { type BatchResult, type ChainResults, resultsFor } from "#jobs/chain/query-chain.ts";
import type { IntakeRejection } from "../market/admission.ts";
import { createBatchTotals } from "../quotas/batch-totals.ts";
import type { Charge } from "../quotas/order-budgets.ts";
import { budgetsOf } from "../quotas/validate-quotas.ts";
import type { Accepted } from "./append-orders.ts";
import type { PendingOrder } from "./pending-order.ts";
import type { StoredContext } from "./read-stored-context.ts";
import { validateOrder } from "./validate-order.ts";
import { quotaContextOf } from "./validate-state.ts";

export type ValidationResult = {
  rejections: ReadonlyMap<PendingOrder, IntakeRejection>;
  accepted: readonly Accepted[];
  charges: readonly Charge[];
  resultsOf(pendingOrders: readonly PendingOrder[]): ChainResults;
};

/** Whether the order was accepted before and this signature is valid too. */
export function isDuplicate(
  { order, signatureCheck }: PendingOrder,
  signature: Hex | undefined,
): boolean {
  if (signature === undefined) return false;
  return signatureCheck.signedBy === "maker" || signature === order.signature;
}

type ChainRound = {
  stored: StoredContext;
  queries: ReadonlyMap<PendingOrder, readonly ChainQuery[]>;
  round: BatchResult;
  results: ChainResults;
  burnedTokens: TokenSet;
  indexesAllContracts: boolean;
  quotas: OrderQuotas;
};

/** One after the other: an accepted order affects the validation of the next ones. */
export function validateInOrder(
  pendingOrders: readonly PendingOrder[],
  context: ChainRound,
): ValidationResult {
  const { queries, round, ...validated } = context;
  const resultsOf = (some: readonly PendingOrder[]) =>
    resultsFor(
      round,
      some.flatMap((one) => queries.get(one) ?? []),
    );
  const batchTotals = createBatchTotals();
  const rejections = new Map<PendingOrder, IntakeRejection>();
  const accepted = new Map<Hex, Accepted>();
  for (const pending of pendingOrders) {
    const { order } = pending;
    const before = accepted.get(order.orderHash)?.pending;
    if (isDuplicate(pending, before?.order.signature)) continue;
    const result = validateOrder(pending, { ...validated, batchTotals });
    if (isRejection(result)) {
      rejections.set(pending, result);
    } else if (before === undefined) {
      accepted.set(order.orderHash, { pending, terms: result.terms });
      batchTotals.add(
        order,
        budgetsOf(order, quotaContextOf(pending, { ...validated, batchTotals })),
      );
    }
  }
  const charges = batchTotals.charges();
  return { rejections, accepted: [...accepted.values()], charges, resultsOf };
}

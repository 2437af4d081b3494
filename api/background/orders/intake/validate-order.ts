import type { Address } from "viem";
import { type IntakeCode, rpcUnavailable } from "#projections/domain/intake-codes.ts";
import type { TradeTerms } from "#projections/domain/orders/order-terms.ts";
import { validateFees } from "#projections/domain/orders/validate-fees.ts";
import { validateTimes } from "#projections/domain/orders/validate-times.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { Royalty } from "#projections/domain/royalty.ts";
import { validateCounter } from "#projections/domain/seaport/signature.ts";
import { unixSeconds } from "#projections/orders/read-orders.ts";
import type { IntakeRejection } from "../market/admission.ts";
import { royaltyFrom } from "../market/royalty.ts";
import type { PendingOrder } from "./pending-order.ts";
import { validateOwnOrders, validateState } from "./validate-state.ts";
import type { ValidationContext } from "./validation-context.ts";

/** The checks that need stored data or chain state, in the order of `intake-codes.ts`. */
export function validateOrder(
  pending: PendingOrder,
  context: ValidationContext,
): { terms: TradeTerms } | IntakeRejection {
  const { order, terms, now } = pending;
  const royaltyCase = context.stored.royaltyCases.get(order.orderHash);
  const royalty = royaltyCase && royaltyFrom(royaltyCase, context.results);
  if (royalty === undefined) return rpcUnavailable("the royalty");
  const fees = validateFees(order, terms, royalty);
  if (isRejection(fees)) return fees;
  return (
    validateTimes(order.components, terms.bounds, unixSeconds(now)) ??
    validateSigner(pending, context) ??
    validateState(pending, context) ??
    validateOwnOrders(pending, context) ??
    fees
  );
}

/**
 * The checks before that of the signature, and `otherwise`, without asking the chain. `royalty` as it was last read; null:
 * unknown, then what depends on it is not checked.
 */
export function validateUnsigned(
  { order, terms, now }: PendingOrder,
  royalty: { due: Royalty | null } | null,
  otherwise: IntakeRejection,
): IntakeRejection {
  const fees = validateFees(order, terms, royalty?.due ?? null);
  const isKnown = (code: IntakeCode) => royalty !== null || feeCodes.has(code);
  if (isRejection(fees) && isKnown(fees.rejected)) return fees;
  return validateTimes(order.components, terms.bounds, unixSeconds(now)) ?? otherwise;
}

/** The checks that are possible while the chain is unavailable. */
export const validateWithoutChain = (pending: PendingOrder): IntakeRejection =>
  validateUnsigned(pending, null, rpcUnavailable(null));

/** Fee rejections that do not depend on the royalty. */
const feeCodes: ReadonlySet<IntakeCode> = new Set([
  "fee_missing",
  "fee_wrong_recipient",
  "fee_wrong_amount",
]);

/** The signature, then the counter that is signed with it. */
function validateSigner(
  pending: PendingOrder,
  { results }: ValidationContext,
): IntakeRejection | null {
  const { order, signatureCheck } = pending;
  const maker = order.components.offerer;
  const counter = results.find({ kind: "counter_read", maker })?.counter;
  if (counter === undefined) return rpcUnavailable("the maker's counter");
  const counterRejection = validateCounter(order, counter);
  if (signatureCheck.signedBy === "maker") return counterRejection;
  const status = results.find({ kind: "order_status_read", orderHash: order.orderHash });
  if (status === undefined) return rpcUnavailable("the order's status");
  if (status.validated) return counterRejection;
  const hasCode = results.find({ kind: "code", address: maker })?.hasCode;
  if (hasCode === undefined) return rpcUnavailable("whether the maker is a contract");
  if (!hasCode) return signatureCheck.rejection;
  const { orderHash, components, signature } = order;
  const signed = { orderHash, maker, order: { components, signature } };
  const valid = results.find({ kind: "signature_read", ...signed })?.valid;
  if (valid === false) return rejectContractSignature(maker);
  if (counterRejection !== null || valid) return counterRejection;
  // The exchange rejects an ended order before it verifies a contract signature: the status check answers.
  return status.cancelled || status.filled > 0n
    ? null
    : rpcUnavailable("whether the maker's contract accepts the signature");
}

export function rejectContractSignature(maker: Address): IntakeRejection {
  const message = `the contract ${maker} does not accept the signature (EIP-1271)`;
  return reject("contract_signature_invalid", `signature: ${message}`, [
    { field: "signature", message },
  ]);
}

import type { Address, Hex } from "viem";
import type { IntakeCode } from "../../../../projections/domain/orders/intake-codes.ts";
import { judgeFees } from "../../../../projections/domain/orders/judge-fees.ts";
import { judgeTimes } from "../../../../projections/domain/orders/judge-times.ts";
import type { TradeTerms } from "../../../../projections/domain/orders/trade-terms.ts";
import { isRejection, reject } from "../../../../projections/domain/rejection.ts";
import { judgeCounter } from "../../../../projections/domain/seaport/signature.ts";
import { unixSeconds } from "../../../../projections/reads/orders/read-shown.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import { royaltyFrom } from "../royalty.ts";
import type { Candidate, Refused } from "./candidate.ts";
import { type Evidence, rpcUnavailable } from "./evidence.ts";
import { judgeBook, judgeState } from "./judge-state.ts";

/** Everything left to check once the chain has answered, in the order in which refusals go before one another. */
export function judgeCandidate(
  candidate: Candidate,
  evidence: Evidence,
): { terms: TradeTerms } | Refused {
  const { order, terms, now } = candidate;
  const royaltyCase = evidence.known.royaltyCases.get(order.orderHash);
  const royalty = royaltyCase && royaltyFrom(royaltyCase, evidence.answers);
  if (royalty === undefined) return rpcUnavailable("what royalty is due");
  const fees = judgeFees(order, terms, royalty);
  if (isRejection(fees)) return fees;
  return (
    judgeTimes(order.components, terms.bounds, unixSeconds(now)) ??
    judgeSigner(candidate, evidence) ??
    judgeState(candidate, evidence) ??
    judgeBook(candidate, evidence) ??
    fees
  );
}

/** While the chain cannot be asked: what is wrong whatever it would say. */
export function judgeUnasked({ order, terms, now }: Candidate): Refused {
  const fees = judgeFees(order, terms, null);
  if (isRejection(fees) && feeCodes.has(fees.rejected)) return fees;
  return (
    judgeTimes(order.components, terms.bounds, unixSeconds(now)) ??
    rpcUnavailable("anything: it could not be asked")
  );
}

/** Refusals that the royalty has no part in. */
const feeCodes: ReadonlySet<IntakeCode> = new Set([
  "fee_missing",
  "fee_wrong_recipient",
  "fee_wrong_amount",
]);

/** The signature, then the counter that is signed with it. */
function judgeSigner(candidate: Candidate, { answers }: Evidence): Refused | null {
  const { order, verdict } = candidate;
  const maker = order.components.offerer;
  const counter = answers.find({ kind: "counter_read", maker })?.counter;
  if (counter === undefined) return rpcUnavailable("the maker's counter");
  const counterRefused = judgeCounter(order, counter);
  if (verdict.signedBy === "maker") return counterRefused;
  const hasCode = answers.find({ kind: "code", address: maker })?.hasCode;
  if (hasCode === undefined) return rpcUnavailable("whether the maker is a contract");
  if (!hasCode) return verdict.otherwise;
  const { orderHash, components, signature } = order;
  const signed = { orderHash, maker, order: { components, signature } };
  const valid = answers.find({ kind: "signature_read", ...signed })?.valid;
  if (valid === false) return contractRefused(maker);
  if (counterRefused !== null || valid) return counterRefused;
  // Of an order that has ended the exchange says so, and asks no contract.
  return hasEndedOnChain(order.orderHash, answers)
    ? null
    : rpcUnavailable("whether the maker's contract takes the signature for its own");
}

function contractRefused(maker: Address): Refused {
  const message = `the contract ${maker} does not take the signature for its own (EIP-1271)`;
  return reject("contract_signature_invalid", `signature: ${message}`, [
    { field: "signature", message },
  ]);
}

function hasEndedOnChain(orderHash: Hex, answers: ChainAnswers): boolean {
  const status = answers.find({ kind: "order_status_read", orderHash });
  return status !== undefined && (status.cancelled || status.filled > 0n);
}

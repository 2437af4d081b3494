import { commonConduit } from "../../../../abis/deployments.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question } from "../../chain/questions.ts";
import {
  type CheckedOrder,
  judgeOrder,
  orderQuestions,
  unanswered,
} from "../checks/check-order.ts";
import { handoverQuestions, heldUnits, judgeConduit } from "../checks/handover.ts";

/** What a chain is asked before a listing is sold. */
function listingQuestions(listing: CheckedOrder) {
  const { contract, standard, tokenId } = listing.terms;
  if (tokenId === null) throw new TypeError(`Listing ${listing.orderHash} is for no token`);
  return {
    ...orderQuestions(listing),
    ...handoverQuestions({ contract, standard, tokenId }, listing.components.offerer),
  };
}

export function questionsOfListing(listing: CheckedOrder): Question[] {
  return Object.values(listingQuestions(listing));
}

/** Units that the chain would sell now, or why it would sell none. */
export function judgeListing(listing: CheckedOrder, answers: ChainAnswers, now: Date) {
  const left = judgeOrder(listing, answers, now);
  if (isRejection(left)) return left;
  const held = heldUnits(listingQuestions(listing), answers);
  if (held === undefined) return unanswered();
  if (held === 0n) return reject("not_owner", "Its maker does not hold the token any more");
  return judgeMoving(listing, answers) ?? (left < held ? left : held);
}

function judgeMoving(listing: CheckedOrder, answers: ChainAnswers) {
  const questions = listingQuestions(listing);
  const approval = answers.find(questions.approval);
  if (approval === undefined || answers.find(questions.channel) === undefined) return unanswered();
  if (!approval.approved) {
    const conduit = commonConduit.address;
    return reject("not_approved", `Its maker does not let ${conduit} move the collection`);
  }
  return judgeConduit(questions, answers);
}

export type Unfillable = Rejection<"inactive" | "unavailable" | "upstream_error">;

const goneForGood: ReadonlySet<string> = new Set([
  "order_filled",
  "order_cancelled",
  "order_expired",
]);

/** The reason as callers who buy are told it: it may come back, it will not, or nobody knows. */
export function refuseSale({ rejected, message }: Rejection): Unfillable {
  if (rejected === "rpc_unavailable") return reject("upstream_error", message);
  const code = goneForGood.has(rejected) ? "unavailable" : "inactive";
  return reject(code, message, [{ field: "askId", actual: rejected, message }]);
}

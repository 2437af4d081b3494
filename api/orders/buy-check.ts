import { commonConduit } from "../../abis/deployments.ts";
import { isRejection, type Rejection, reject } from "../../projections/domain/rejection.ts";
import type { ChainAnswers } from "../chain/ask-chain.ts";
import type { Question } from "../chain/questions.ts";
import { type CheckedOrder, judgeOrder, orderQuestions, unanswered } from "./check-order.ts";

/** What a chain is asked before a listing is sold. */
function listingQuestions(listing: CheckedOrder) {
  const { contract, standard, tokenId } = listing.terms;
  if (tokenId === null) throw new TypeError(`Listing ${listing.orderHash} is for no token`);
  const owner = listing.components.offerer;
  return {
    ...orderQuestions(listing),
    holding:
      standard === "erc721"
        ? { kind: "owner_read", contract, tokenId }
        : { kind: "units_read", contract, tokenId, owner },
    approval: { kind: "approval_read", contract, owner },
    channel: { kind: "channel_read" },
    transfer: { kind: "transfer_read", contract, tokenId, owner, standard },
  } as const satisfies Record<string, Question>;
}

export function questionsOfListing(listing: CheckedOrder): Question[] {
  return Object.values(listingQuestions(listing));
}

/** Units that the chain would sell now, or why it would sell none. */
export function judgeListing(listing: CheckedOrder, answers: ChainAnswers, now: Date) {
  const left = judgeOrder(listing, answers, now);
  if (isRejection(left)) return left;
  const held = heldUnits(listing, answers);
  if (held === undefined) return unanswered();
  if (held === 0n) return reject("not_owner", "Its maker does not hold the token any more");
  return judgeMoving(listing, answers) ?? (left < held ? left : held);
}

function heldUnits(listing: CheckedOrder, answers: ChainAnswers): bigint | undefined {
  const { holding } = listingQuestions(listing);
  if (holding.kind === "units_read") return answers.find(holding)?.units;
  const reading = answers.find(holding);
  if (reading === undefined) return undefined;
  return reading.owner === listing.components.offerer ? 1n : 0n;
}

/** Whether the token may be moved is known to be no only when a contract said so. */
function judgeMoving(listing: CheckedOrder, answers: ChainAnswers) {
  const questions = listingQuestions(listing);
  const approval = answers.find(questions.approval);
  const channel = answers.find(questions.channel);
  if (approval === undefined || channel === undefined) return unanswered();
  if (!approval.approved) {
    const conduit = commonConduit.address;
    return reject("not_approved", `Its maker does not let ${conduit} move the collection`);
  }
  if (!channel.open) return reject("conduit_channel_closed", "The conduit is closed");
  if (answers.find(questions.transfer)?.allowed === false) {
    return reject("transfer_restricted", "The collection does not let the token be moved");
  }
  return null;
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

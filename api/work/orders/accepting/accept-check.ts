import type { Address } from "viem";
import type { ChainReading } from "../../../../projections/chain-readings/chain-reading.ts";
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

/** Who sells what into a bid. */
export type Sale = { seller: Address; tokenId: bigint; units: bigint };

function bidderQuestions(bid: CheckedOrder) {
  const owner = bid.components.offerer;
  const currency = currencyOf(bid);
  return {
    ...orderQuestions(bid),
    balance: { kind: "balance_read", currency, owner },
    allowance: { kind: "allowance_read", currency, owner },
  } as const satisfies Record<string, Question>;
}

function sellerQuestions({ terms }: CheckedOrder, { seller, tokenId }: Sale) {
  const { contract, standard } = terms;
  return handoverQuestions({ contract, standard, tokenId }, seller);
}

/** What the book follows about the bid itself. */
export function questionsOfBid(bid: CheckedOrder): Question[] {
  return Object.values(bidderQuestions(bid));
}

/** Whether it is about bids, rather than about a seller. */
export function isOfBids({ kind }: ChainReading): boolean {
  return bidKinds.has(kind);
}

const bidKinds: ReadonlySet<ChainReading["kind"]> = new Set([
  "order_status_read",
  "counter_read",
  "signature_read",
  "balance_read",
  "allowance_read",
]);

/** What is asked about a seller, who may have nothing to do with the book. */
export function questionsOfSeller(bid: CheckedOrder, sale: Sale): Question[] {
  return Object.values(sellerQuestions(bid, sale));
}

/** Whether the exchange would fill the bid with these units, were they offered; null: it would. */
export function judgeBid(bid: CheckedOrder, { units }: Sale, answers: ChainAnswers, now: Date) {
  const left = judgeOrder(bid, answers, now);
  if (isRejection(left)) return left;
  if (units > left) return reject("bad_amount", `The offer is for ${left} units more`);
  const questions = bidderQuestions(bid);
  const balance = answers.find(questions.balance);
  const allowance = answers.find(questions.allowance);
  if (balance === undefined || allowance === undefined) return unanswered();
  const neededWei = bid.terms.unitPriceWei * units;
  if (balance.wei < neededWei) {
    return reject("insufficient_balance", "The bidder does not hold the price any more");
  }
  if (allowance.wei < neededWei) {
    return reject("insufficient_allowance", "The bidder does not let the exchange take the price");
  }
  return null;
}

export type SellerCode =
  | "not_owner"
  | "insufficient_quantity"
  | "conduit_channel_closed"
  | "transfer_restricted"
  | "rpc_unavailable";

/** Whether the seller could hand over the units once the conduit is approved; null: yes. */
export function judgeSeller(
  bid: CheckedOrder,
  sale: Sale,
  answers: ChainAnswers,
): Rejection<SellerCode> | null {
  const questions = sellerQuestions(bid, sale);
  const lacking = judgeHolding(sale, heldUnits(questions, answers));
  if (lacking !== null) return lacking;
  if (answers.find(questions.channel) === undefined) return unanswered();
  return judgeConduit(questions, answers);
}

function judgeHolding({ units, tokenId }: Sale, held: bigint | undefined) {
  if (held === undefined) return unanswered();
  if (held === 0n) return reject("not_owner", `The seller does not hold token ${tokenId}`);
  if (held < units) {
    return reject("insufficient_quantity", `The seller holds ${held} units and sells ${units}`);
  }
  return null;
}

/** Null: the chain did not say. */
export function sellerApproval(
  bid: CheckedOrder,
  sale: Sale,
  answers: ChainAnswers,
): boolean | null {
  return answers.find(sellerQuestions(bid, sale).approval)?.approved ?? null;
}

function currencyOf({ components, orderHash }: CheckedOrder): Address {
  const [paid] = components.offer;
  if (paid === undefined) throw new TypeError(`Bid ${orderHash} offers nothing`);
  return paid.token;
}

import { type Address, type Hex, zeroAddress } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import { isRejection, type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question } from "../../chain/questions.ts";
import { RpcFailure } from "../../chain/rpc-batch.ts";
import type { CheckedOrder } from "../checks/check-order.ts";
import { recordReadings } from "../checks/record-readings.ts";
import type { Market } from "../market.ts";
import { buildPurchase, type Purchase, serviceTag } from "./buy-calldata.ts";
import { judgeListing, questionsOfListing, refuseSale } from "./buy-check.ts";
import { buyFromPartner } from "./buy-from-partner.ts";
import type { BuyRequest } from "./buy-request.ts";
import { findOffered, type Offered } from "./find-offered.ts";

type BuyCode =
  | "not_found"
  | "inactive"
  | "unavailable"
  | "order_mismatch"
  | "price_above_max"
  | "buyer_required"
  | "bad_amount"
  | "unsupported_marketplace"
  | "unsupported_order"
  | "upstream_error"
  | "buying_disabled";

export type Bought = { askId: string; chainId: ChainId; purchase: Purchase; endsAt: Date };
type Outcome<Value> = Value | Rejection<BuyCode>;

/**
 * What to send to buy each of the listings; or why one cannot be bought. One look at the chain serves all of them but
 * those whose partner has to allow the fill: it is asked for each.
 */
export async function buyListings(
  market: Market,
  request: BuyRequest,
  now: Date,
): Promise<Outcome<Bought>[]> {
  const { chainId, askIds } = request;
  if (await market.isPaused("buying")) {
    return askIds.map(() => reject("buying_disabled", "Buying is switched off for now"));
  }
  const candidates = await findOffered(market, request, now);
  const choice = { ...request, now, tag: serviceTag(market.prefix) };
  const asking = askAbout(market, choice, candidates);
  return await Promise.all(
    candidates.map(async (candidate) => {
      if (isRejection(candidate)) return candidate;
      const { askId, row, order } = candidate;
      const purchase =
        row.marketplace === "opensea"
          ? await buyFromPartner(partnerOf(market, candidate), candidate, choice)
          : sell(candidate, await asking, choice);
      if (isRejection(purchase)) return purchase;
      const refused = refusePrice(purchase, request.maxWei);
      if (refused !== null) return refused;
      const endsAt = new Date(Number(order.components.endTime) * 1000);
      return { askId, chainId, purchase, endsAt: earlierOf(purchase.validUntil, endsAt) };
    }),
  );
}

const partnerOf = ({ partners }: Market, { row }: Offered) =>
  partners.find(({ name }) => name === row.marketplace);

const earlierOf = (until: Date | null, end: Date) => (until !== null && until < end ? until : end);

function refusePrice({ priceWei }: Purchase, maxWei: bigint | null) {
  if (maxWei === null || priceWei <= maxWei) return null;
  return reject("price_above_max", `The price is ${priceWei} wei, above ${maxWei}`);
}

type Choice = BuyRequest & { now: Date; tag: Hex };

const noAnswer = reject("upstream_error", "The chain could not be asked; try again");

/** Null: there is nothing to ask. */
async function askAbout(
  market: Market,
  { chainId, buyer, now }: Choice,
  candidates: readonly (Offered | Rejection)[],
): Promise<ChainAnswers | typeof noAnswer | null> {
  const questions = candidates.flatMap((one) => {
    if (isRejection(one) || one.row.marketplace === "opensea") return [];
    return [...questionsOfListing(signedOf(one)), ...fundsQuestions(one, buyer)];
  });
  if (questions.length === 0) return null;
  try {
    const answers = await market.ask(chainId, questions);
    const { basis, readings } = answers;
    // A buyer's money is nobody's order: the log is not for it.
    const ofListings = readings.filter(({ kind }) => !fundsKinds.has(kind));
    await recordReadings(market, { chainId, basis, readings: ofListings }, now);
    return answers;
  } catch (error) {
    if (error instanceof RpcFailure) return noAnswer;
    throw error;
  }
}

/** What is buyable without its partner has a signature. */
function signedOf({ order }: Offered): CheckedOrder {
  return {
    ...order,
    signature: order.signature ?? "0x",
    terms: { ...order.terms, fees: [] },
  };
}

const fundsKinds: ReadonlySet<Question["kind"]> = new Set(["balance_read", "allowance_read"]);

function fundsQuestions({ row: { currency } }: Offered, buyer: Address | null): Question[] {
  if (currency === null || buyer === null) return [];
  return [
    { kind: "balance_read", currency, owner: buyer },
    { kind: "allowance_read", currency, owner: buyer },
  ];
}

function sell(
  offered: Offered,
  answers: ChainAnswers | typeof noAnswer | null,
  { buyer, units: asked, now, tag }: Choice,
): Outcome<Purchase> {
  if (answers === null || isRejection(answers)) return noAnswer;
  const listing = signedOf(offered);
  const fillable = judgeListing(listing, answers, now);
  if (isRejection(fillable)) return refuseSale(fillable);
  const units = asked ?? fillable;
  if (units > fillable) {
    return reject("bad_amount", `amount: ${fillable} units can be bought now, not ${units}`);
  }
  const { currency } = offered.row;
  const funds = fundsOf(offered, answers, buyer);
  return buildPurchase(listing, { units, recipient: buyer ?? zeroAddress, tag, currency, funds });
}

function fundsOf(offered: Offered, answers: ChainAnswers, buyer: Address | null) {
  const { currency } = offered.row;
  if (currency === null || buyer === null) return { balanceWei: null, allowanceWei: null };
  const money = { currency, owner: buyer };
  return {
    balanceWei: answers.find({ kind: "balance_read", ...money })?.wei ?? null,
    allowanceWei: answers.find({ kind: "allowance_read", ...money })?.wei ?? null,
  };
}

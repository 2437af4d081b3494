import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import { isRejection, type Rejection } from "../../../../projections/domain/rejection.ts";
import { readOpenBidsWei } from "../../../../projections/reads/bids/read-open.ts";
import { readKnownContracts } from "../../../../projections/reads/collections/read-known-contracts.ts";
import type { Question } from "../../chain/questions.ts";
import { askOrRefuse } from "../checks/ask-or-refuse.ts";
import { unanswered } from "../checks/check-order.ts";
import type { Market } from "../market.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyFrom, royaltyQuestions } from "../royalty.ts";
import { type Purse, purseFrom, purseQuestions } from "./bid-requirements.ts";
import { type PricedItem, priceItem } from "./price-item.ts";
import { standardOf, type WishedToken } from "./wished-token.ts";

/** What an order is to be made of; what is not told is null. */
export type Inquiry = {
  chainId: ChainId;
  maker: Address | null;
  /** Whether a bid is for one token or for any of the contract. */
  kind: "item" | "collection";
  contract: Address | null;
  tokenId: bigint | null;
  /** Of a listing; a bid is priced for one unit. */
  quantity: bigint;
  unitPriceWei: bigint | null;
};

/** Null: the inquiry does not tell enough of it. */
export type OrderParameters = {
  purse: Purse | null;
  listing: PricedItem | null;
  bid: PricedItem | null;
};

/** Without a maker and without a price the chain is not asked. */
export async function readOrderParameters(
  market: Market,
  inquiry: Inquiry,
  now: Date,
): Promise<OrderParameters | Rejection<"rpc_unavailable">> {
  const { chainId, maker } = inquiry;
  const terms = market.terms(chainId);
  const [subject, openOffersWei] = await Promise.all([
    readSubject(market, inquiry),
    maker === null ? 0n : readOpenBidsWei(market.writer, chainId, maker, now),
  ]);
  const questions = [
    ...(maker === null ? [] : purseQuestions(maker, terms)),
    ...(subject === null ? [] : subjectQuestions(subject)),
  ];
  if (questions.length === 0) return { purse: null, listing: null, bid: null };
  const answers = await askOrRefuse(market, chainId, questions);
  if (isRejection(answers)) return answers;
  const purse = maker === null ? null : purseFrom(answers, maker, terms, openOffersWei);
  if (isRejection(purse)) return purse;
  if (subject === null) return { purse, listing: null, bid: null };
  const royalty = royaltyFrom(subject.royaltyCase, answers);
  if (royalty === undefined) return unanswered();
  const standard = standardOf(subject, answers);
  const { contract, tokenId, unitPriceWei } = subject;
  const price = (side: "ask" | "bid", quantity: bigint) => {
    const wish = { side, contract, tokenId, unitPriceWei, maker, standard, quantity };
    return priceItem(wish, terms, royalty, purse?.counter);
  };
  const listing = tokenId === null ? null : price("ask", inquiry.quantity);
  return { purse, listing, bid: price("bid", 1n) };
}

type Subject = WishedToken & { unitPriceWei: bigint; royaltyCase: RoyaltyCase };

/** What is traded at which price; null: one of them is not told. */
async function readSubject(market: Market, inquiry: Inquiry): Promise<Subject | null> {
  const { chainId, kind, contract, tokenId, unitPriceWei } = inquiry;
  if (contract === null || unitPriceWei === null) return null;
  if (kind === "item" && tokenId === null) return null;
  const [known, [royaltyCase]] = await Promise.all([
    readKnownContracts(market.writer, chainId, [contract]),
    readRoyaltyCases(market.writer, chainId, [{ contract, tokenId, unitPriceWei }]),
  ]);
  if (royaltyCase === undefined) return null;
  return { contract, tokenId, known: known.get(contract), unitPriceWei, royaltyCase };
}

function subjectQuestions({ contract, royaltyCase }: Subject): Question[] {
  return [{ kind: "standard", contract }, ...royaltyQuestions([royaltyCase])];
}

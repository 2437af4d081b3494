import { type Address, maxUint256 } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { IntakeCode } from "../../../../projections/domain/orders/intake-codes.ts";
import { judgeBidState } from "../../../../projections/domain/orders/judge-chain.ts";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import { isRejection, type Rejection } from "../../../../projections/domain/rejection.ts";
import { readOpenBidsWei } from "../../../../projections/reads/bids/read-open.ts";
import { readKnownContracts } from "../../../../projections/reads/collections/read-known-contracts.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import { askOrRefuse } from "../checks/ask-or-refuse.ts";
import { unanswered } from "../checks/check-order.ts";
import type { Market } from "../market.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyFrom, royaltyQuestions } from "../royalty.ts";
import type { Wish } from "./draft.ts";
import { judgeDraft, type PricedItem, priceItem } from "./price-item.ts";
import { standardOf, tokenQuestions, tokenStateOf, type WishedToken } from "./wished-token.ts";

/** `tokenId` is null for a bid on every token of the contract. */
export type BidItem = {
  contract: Address;
  tokenId: bigint | null;
  quantity: bigint;
  unitPriceWei: bigint;
};

export type BidRequirement = PricedItem & {
  item: BidItem;
  standard: Wish["standard"] | null;
  /** Why the bid would not be taken in, even with the allowance given. */
  blocked: Rejection<IntakeCode> | null;
};

export type Purse = {
  counter: bigint;
  /** Of the chain's wrapped native currency. */
  balanceWei: bigint;
  /** To the exchange itself. */
  allowanceWei: bigint;
  /** What the maker's open bids may still cost. */
  openOffersWei: bigint;
};

export type BidRequirements = Purse & {
  /** For the open bids and every item that nothing blocks. */
  requiredAllowanceWei: bigint;
  items: BidRequirement[];
};

type Wanted = { market: Market; chainId: ChainId; maker: Address; now: Date };

/** What the maker's items take to be bid for, by one round of questions to the chain. */
export async function readBidRequirements(
  { market, chainId, maker, now }: Wanted,
  items: readonly BidItem[],
): Promise<BidRequirements | Rejection<"rpc_unavailable">> {
  const db = market.writer;
  const terms = market.terms(chainId);
  const [known, cases, openOffersWei] = await Promise.all([
    readKnownContracts(
      db,
      chainId,
      items.map(({ contract }) => contract),
    ),
    readRoyaltyCases(db, chainId, items),
    readOpenBidsWei(db, chainId, maker, now),
  ]);
  const tokens = items.map((item) => ({ ...item, maker, known: known.get(item.contract) }));
  const answers = await askOrRefuse(market, chainId, [
    ...purseQuestions(maker, terms),
    ...royaltyQuestions(cases),
    ...tokens.flatMap(tokenQuestions),
  ]);
  if (isRejection(answers)) return answers;
  const purse = purseFrom(answers, maker, terms, openOffersWei);
  if (isRejection(purse)) return purse;
  const grounds = { answers, purse, terms, coversAll: market.coversAll(chainId) };
  const rows = cases.flatMap((one, index) => {
    const token = tokens[index];
    return token === undefined ? [] : [requirementOf(token, one, grounds)];
  });
  const wantedWei = rows
    .filter(({ blocked }) => blocked === null)
    .reduce((sum, { item }) => sum + item.unitPriceWei * item.quantity, 0n);
  return { ...purse, requiredAllowanceWei: purse.openOffersWei + wantedWei, items: rows };
}

/** What the chain must be asked of somebody who bids. */
export function purseQuestions(owner: Address, { currency }: MarketTerms) {
  return [
    { kind: "counter_read", maker: owner },
    { kind: "balance_read", currency, owner },
    { kind: "allowance_read", currency, owner },
  ] as const;
}

export function purseFrom(
  answers: ChainAnswers,
  owner: Address,
  { currency }: MarketTerms,
  openOffersWei: bigint,
): Purse | Rejection<"rpc_unavailable"> {
  const counter = answers.find({ kind: "counter_read", maker: owner })?.counter;
  const balanceWei = answers.find({ kind: "balance_read", currency, owner })?.wei;
  const allowanceWei = answers.find({ kind: "allowance_read", currency, owner })?.wei;
  if (counter === undefined || balanceWei === undefined || allowanceWei === undefined) {
    return unanswered();
  }
  return { counter, balanceWei, allowanceWei, openOffersWei };
}

type BidToken = BidItem & WishedToken & { maker: Address };
type Grounds = {
  answers: ChainAnswers;
  purse: Purse;
  terms: MarketTerms;
  coversAll: boolean;
};

function requirementOf(
  token: BidToken,
  royaltyCase: RoyaltyCase,
  { answers, purse, terms, coversAll }: Grounds,
): BidRequirement {
  const standard = standardOf(token, answers);
  const wish = { ...token, side: "bid", standard } as const;
  const priced = priceItem(wish, terms, royaltyFrom(royaltyCase, answers), purse.counter);
  const order = judgeDraft(wish, priced, terms);
  const blocked = isRejection(order)
    ? order
    : judgeBidState(order, {
        ...tokenStateOf(token, answers, coversAll),
        status: { cancelled: false, filled: 0n, size: 0n },
        balanceWei: purse.balanceWei,
        // To approve is what the maker is told to do next: it does not block.
        allowanceWei: maxUint256,
        openBidsWei: 0n,
      });
  return { item: token, standard, ...priced, blocked };
}

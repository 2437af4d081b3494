import type { Address } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { IntakeCode } from "../../../../projections/domain/orders/intake-codes.ts";
import {
  judgeListingState,
  judgeRaise,
  type ListingState,
} from "../../../../projections/domain/orders/judge-chain.ts";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import type { RecognizedOrder } from "../../../../projections/domain/orders/recognized-order.ts";
import { isRejection, type Rejection } from "../../../../projections/domain/rejection.ts";
import { readKnownContracts } from "../../../../projections/reads/collections/read-known-contracts.ts";
import {
  type OwnListing,
  readOwnCheaperListings,
} from "../../../../projections/reads/listings/read-own.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question } from "../../chain/questions.ts";
import { askOrRefuse } from "../checks/ask-or-refuse.ts";
import { unanswered } from "../checks/check-order.ts";
import { draftTwin, type TwinDraft } from "../cross-listings/draft-twin.ts";
import { fetchAllTwinTerms, type TwinTerms } from "../cross-listings/twin-terms.ts";
import type { Market } from "../market.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyFrom, royaltyQuestions } from "../royalty.ts";
import type { Wish } from "./draft.ts";
import { judgeDraft, type PricedItem, priceItem } from "./price-item.ts";
import { standardOf, tokenQuestions, tokenStateOf, type WishedToken } from "./wished-token.ts";

export type ListingItem = {
  contract: Address;
  tokenId: bigint;
  quantity: bigint;
  unitPriceWei: bigint;
};

export type ListingRequirement = PricedItem & {
  item: ListingItem;
  standard: Wish["standard"] | null;
  /** Units the maker holds, 1 or 0 of an ERC-721. Null: unknown. */
  heldUnits: bigint | null;
  /** Null: unknown. */
  isApproved: boolean | null;
  /** Why the listing would not be taken in, even with the conduit approved. */
  blocked: Rejection<IntakeCode> | null;
  /** What a twin of it for the partner must be; null: there is no partner, or it does not say. */
  twin: TwinDraft | null;
};

export type ListingRequirements = { counter: bigint; items: ListingRequirement[] };

type Wanted = { market: Market; chainId: ChainId; maker: Address; now: Date };

/** What it takes for the maker to list each item, by one round of questions to the chain. */
export async function readListingRequirements(
  { market, chainId, maker, now }: Wanted,
  items: readonly ListingItem[],
): Promise<ListingRequirements | Rejection<"rpc_unavailable">> {
  const db = market.writer;
  const contracts = items.map(({ contract }) => contract);
  const asked = items.map((item) => ({ ...item, maker }));
  const [known, cases, cheaper, twinTerms] = await Promise.all([
    readKnownContracts(db, chainId, contracts),
    readRoyaltyCases(db, chainId, items),
    readOwnCheaperListings(db, chainId, asked, now),
    fetchAllTwinTerms(market.partners, chainId, contracts),
  ]);
  const tokens = asked.map((item) => ({ ...item, known: known.get(item.contract) }));
  const answers = await askOrRefuse(market, chainId, [
    { kind: "counter_read", maker },
    { kind: "channel_read" },
    ...royaltyQuestions(cases),
    ...tokens.flatMap(listingQuestions),
    ...cheaper.map(statusQuestion),
  ]);
  if (isRejection(answers)) return answers;
  const counter = answers.find({ kind: "counter_read", maker })?.counter;
  const channelOpen = answers.find({ kind: "channel_read" })?.open;
  if (counter === undefined || channelOpen === undefined) return unanswered();
  const terms = market.terms(chainId);
  const own = cheaper.filter(
    (one) => one.counter === counter && !answers.find(statusQuestion(one))?.cancelled,
  );
  const coversAll = market.coversAll(chainId);
  const grounds = { answers, counter, channelOpen, own, terms, twinTerms, coversAll };
  return {
    counter,
    items: cases.flatMap((one, index) => {
      const token = tokens[index];
      return token === undefined ? [] : [requirementOf(token, one, grounds)];
    }),
  };
}

type ListedToken = ListingItem & WishedToken & { tokenId: bigint; maker: Address };

type Grounds = {
  answers: ChainAnswers;
  counter: bigint;
  /** Whether the conduit obeys the exchange. */
  channelOpen: boolean;
  own: readonly OwnListing[];
  terms: MarketTerms;
  twinTerms: ReadonlyMap<Address, TwinTerms>;
  coversAll: boolean;
};

function requirementOf(
  token: ListedToken,
  royaltyCase: RoyaltyCase,
  grounds: Grounds,
): ListingRequirement {
  const { answers, counter, terms, twinTerms } = grounds;
  const standard = standardOf(token, answers);
  const wish = { ...token, side: "ask", standard } as const;
  const priced = priceItem(wish, terms, royaltyFrom(royaltyCase, answers), counter);
  const { state, ...holding } = holdingOf(token, grounds);
  const order = judgeDraft(wish, priced, terms);
  const blocked = isRejection(order)
    ? order
    : (judgeListingState(order, state) ?? judgeOwnPrices(order, grounds.own));
  const twin = draftTwin({ ...token, standard }, twinTerms.get(token.contract));
  return { item: token, standard, ...priced, ...holding, blocked, twin };
}

function listingQuestions(token: ListedToken): Question[] {
  const { contract, tokenId, known, maker: owner } = token;
  const units: Question[] =
    known === "erc721" ? [] : [{ kind: "units_read", contract, tokenId, owner }];
  const approval = { kind: "approval_read", contract, owner } as const;
  return [...tokenQuestions(token), approval, ...units, ...transferQuestions(token)];
}

/** How a token moves depends on its standard: nothing is asked while that is unknown. */
function transferQuestions({ contract, tokenId, known: standard, maker: owner }: ListedToken) {
  return standard ? [{ kind: "transfer_read", contract, tokenId, owner, standard } as const] : [];
}

const statusQuestion = ({ orderHash }: OwnListing) =>
  ({ kind: "order_status_read", orderHash }) as const;

type Holding = Pick<ListingRequirement, "heldUnits" | "isApproved"> & { state: ListingState };

/** What the chain says of the token in the maker's hands. */
function holdingOf(token: ListedToken, { answers, channelOpen, coversAll }: Grounds): Holding {
  const { contract, tokenId, maker: owner } = token;
  const tokenState = tokenStateOf(token, answers, coversAll);
  const units =
    tokenState.standard === "erc1155"
      ? answers.find({ kind: "units_read", contract, tokenId, owner })?.units
      : undefined;
  const ofOne = tokenState.owner === undefined ? undefined : BigInt(tokenState.owner === owner);
  const isApproved = answers.find({ kind: "approval_read", contract, owner })?.approved ?? null;
  const [transfer] = transferQuestions(token);
  return {
    heldUnits: ofOne ?? units ?? null,
    isApproved,
    state: {
      ...tokenState,
      units,
      // To approve is what the maker is told to do next: it does not block.
      approved: true,
      channelOpen,
      status: { cancelled: false, filled: 0n, size: 0n },
      transferAllowed: isApproved && transfer ? answers.find(transfer)?.allowed : undefined,
    },
  };
}

/** Of tokens of which there is one: units may be listed at several prices. */
function judgeOwnPrices(order: RecognizedOrder, own: readonly OwnListing[]) {
  if (order.standard !== "erc721") return null;
  const cheaper = own.find(
    ({ contract, tokenId, unitPriceWei }) =>
      contract === order.contract && tokenId === order.tokenId && unitPriceWei < order.unitPriceWei,
  );
  return judgeRaise(order, cheaper ?? null);
}

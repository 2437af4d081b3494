import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { chainUnavailable, queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { Criteria, MarketTerms } from "#projections/domain/orders/order-terms.ts";
import { validateTradable } from "#projections/domain/orders/validate-state.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { Royalty } from "#projections/domain/royalty.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
import { type Coverage, type CriteriaRequest, readCoverage } from "./criteria.ts";
import type { Market } from "./market.ts";
import { type PricedItem, priceItem, validateDraft } from "./price-item.ts";
import {
  type MakerFunds,
  makerFundsFrom,
  makerFundsQueries,
  type RequestedToken,
  readTokenSources,
  requestedStandard,
  requestedTransferQueries,
  tokenQueries,
  tokenStateOf,
} from "./requested-items.ts";
import { type RoyaltyCase, readRoyaltyCases, royaltyFrom, royaltyQueries } from "./royalty.ts";

/** The order to describe; unspecified values are null. */
export type OrderParametersRequest = {
  chainId: ChainId;
  maker: Address | null;
  /** Whether a bid is for one token, or for several of the contract: those of `criteria`, or every one. */
  kind: "item" | "several";
  criteria: CriteriaRequest | null;
  contract: Address | null;
  tokenId: bigint | null;
  /** Of a listing; a bid is priced for one unit. */
  quantity: bigint;
  unitPriceWei: bigint | null;
};

const anyMaker: Address = "0x0000000000000000000000000000000000000001";

/** `blocked`: why intake would refuse the order, so that there is nothing to sign. */
type DescribedOrder = PricedItem & { blocked: Rejection<IntakeCode> | null };

/** Null: the request does not specify enough. `coverage`: the tokens of a bid by criteria. */
export type DescribedParameters = {
  makerFunds: MakerFunds | null;
  listing: DescribedOrder | null;
  bid: (DescribedOrder & { coverage: Coverage | null }) | null;
};

/** Without a maker and without a price the chain is not queried. */
export async function readOrderParameters(
  market: Market,
  request: OrderParametersRequest,
  now: Date,
): Promise<DescribedParameters | Rejection<"rpc_unavailable">> {
  const { chainId, maker } = request;
  const terms = market.terms(chainId);
  const [subject, openOffersWei] = await Promise.all([
    readSubject(market, request),
    maker === null ? 0n : readOpenBidsWei(market.writer, chainId, maker, now),
  ]);
  const queries = [
    ...(maker === null ? [] : makerFundsQueries(maker, terms)),
    ...(subject === null ? [] : subjectQueries(subject, maker)),
  ];
  if (queries.length === 0) return { makerFunds: null, listing: null, bid: null };
  const results = await queryChainOrReject(market, chainId, queries);
  if (isRejection(results)) return results;
  const makerFunds = maker === null ? null : makerFundsFrom(results, maker, terms, openOffersWei);
  if (isRejection(makerFunds)) return makerFunds;
  if (subject === null) return { makerFunds, listing: null, bid: null };
  const context = await readPricing({ market, request, subject, results, makerFunds });
  if (isRejection(context)) return context;
  const { coverage } = subject;
  const listing = subject.tokenId === null ? null : describe("ask", context);
  return { makerFunds, listing, bid: describeBid(coverage, context) };
}

/** What prices one order: the request, the token as the chain has it, and what the maker has. */
type PricingContext = {
  request: OrderParametersRequest;
  subject: Subject;
  terms: MarketTerms;
  royalty: Royalty | null;
  standard: ReturnType<typeof requestedStandard>;
  state: ReturnType<typeof tokenStateOf>;
  transferAllowed: boolean | undefined;
  counter: bigint | undefined;
};

async function readPricing({
  market,
  request,
  subject,
  results,
  makerFunds,
}: {
  market: Market;
  request: OrderParametersRequest;
  subject: Subject;
  results: ChainResults;
  makerFunds: MakerFunds | null;
}): Promise<PricingContext | Rejection<"rpc_unavailable">> {
  const { chainId, maker } = request;
  const royalty = royaltyFrom(subject.royaltyCase, results);
  if (royalty === undefined) return chainUnavailable();
  const sources = await readTokenSources(market, chainId, { items: [subject], results });
  return {
    ...{ request, subject, royalty, terms: market.terms(chainId) },
    standard: requestedStandard(subject, results),
    state: tokenStateOf(subject, sources),
    transferAllowed: findTransfer(subject, maker, results),
    counter: makerFunds?.counter,
  };
}

/** A bid is priced for one unit. */
function describe(
  side: "ask" | "bid",
  { request, subject, terms, royalty, standard, state, transferAllowed, counter }: PricingContext,
  criteria?: Criteria,
): DescribedOrder {
  const { maker } = request;
  const { contract, tokenId, unitPriceWei } = subject;
  const quantity = side === "ask" ? request.quantity : 1n;
  const token = { contract, tokenId, standard, ...(criteria && { criteria }) };
  const intent = { side, ...token, unitPriceWei, maker, quantity };
  const priced = priceItem(intent, terms, royalty, counter);
  // Without a maker the order cannot be validated as it is.
  const named = maker === null ? { ...intent, maker: anyMaker } : intent;
  const draft = maker === null ? priceItem(named, terms, royalty) : priced;
  const order = validateDraft(named, draft, terms);
  const blocked = isRejection(order)
    ? order
    : validateTradable(order, {
        ...state,
        transferAllowed: side === "ask" ? transferAllowed : undefined,
      });
  return { ...priced, components: blocked === null ? priced.components : null, blocked };
}

/** Without its tokens a bid would be for every one. */
function describeBid(
  coverage: Subject["coverage"],
  context: PricingContext,
): DescribedParameters["bid"] {
  if (coverage === null) return { ...describe("bid", context), coverage };
  if (!isRejection(coverage)) return { ...describe("bid", context, coverage.criteria), coverage };
  const priced = describe("bid", context);
  return { ...priced, components: null, blocked: coverage, coverage: null };
}

type Subject = RequestedToken & {
  unitPriceWei: bigint;
  royaltyCase: RoyaltyCase;
  /** The tokens of a bid by criteria, or why what was sent names none. */
  coverage: Coverage | Rejection<IntakeCode> | null;
};

/** The token and its price; null: one of them is unspecified. */
async function readSubject(
  market: Market,
  request: OrderParametersRequest,
): Promise<Subject | null> {
  const { chainId, kind, contract, tokenId, unitPriceWei, criteria } = request;
  if (contract === null || unitPriceWei === null) return null;
  if (kind === "item" && tokenId === null) return null;
  const [known, [royaltyCase], coverage] = await Promise.all([
    readKnownContracts(market.writer, chainId, [contract]),
    readRoyaltyCases(market.writer, chainId, [{ contract, tokenId, unitPriceWei }]),
    criteria === null ? null : readCoverage(market.writer, { chainId, contract }, criteria),
  ]);
  if (royaltyCase === undefined) return null;
  return { contract, tokenId, known: known.get(contract), unitPriceWei, royaltyCase, coverage };
}

function subjectQueries(subject: Subject, maker: Address | null): ChainQuery[] {
  return [
    ...tokenQueries(subject),
    ...royaltyQueries([subject.royaltyCase]),
    ...movingQueries(subject, maker),
  ];
}

/** Whether the maker has approved the conduit, and whether it can move the token. */
function movingQueries({ tokenId, ...token }: Subject, maker: Address | null) {
  if (maker === null || tokenId === null) return [];
  const approval = { kind: "approval_read", contract: token.contract, owner: maker } as const;
  return [approval, ...requestedTransferQueries({ ...token, tokenId, maker })];
}

/** Undefined: unknown, as while the maker has not approved the conduit. */
function findTransfer(subject: Subject, maker: Address | null, results: ChainResults) {
  const [approval, transfer] = movingQueries(subject, maker);
  if (approval?.kind !== "approval_read" || transfer?.kind !== "transfer_read") return undefined;
  return results.find(approval)?.approved === true ? results.find(transfer)?.allowed : undefined;
}

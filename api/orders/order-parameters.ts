import type { Address } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { chainUnavailable, queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import { readKnownContracts } from "#projections/collections/find-collection.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import { validateTradable } from "#projections/domain/orders/validate-state.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
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
  /** Whether a bid is for one token or for any of the contract. */
  kind: "item" | "collection";
  contract: Address | null;
  tokenId: bigint | null;
  /** Of a listing; a bid is priced for one unit. */
  quantity: bigint;
  unitPriceWei: bigint | null;
};

const anyMaker: Address = "0x0000000000000000000000000000000000000001";

/** `blocked`: why intake would refuse the order, so that there is nothing to sign. */
type DescribedOrder = PricedItem & { blocked: Rejection<IntakeCode> | null };

/** Null: the request does not specify enough. */
export type DescribedParameters = {
  makerFunds: MakerFunds | null;
  listing: DescribedOrder | null;
  bid: DescribedOrder | null;
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
  const royalty = royaltyFrom(subject.royaltyCase, results);
  if (royalty === undefined) return chainUnavailable();
  const standard = requestedStandard(subject, results);
  const sources = await readTokenSources(market, chainId, { items: [subject], results });
  const state = tokenStateOf(subject, sources);
  const transferAllowed = findTransfer(subject, maker, results);
  const { contract, tokenId, unitPriceWei } = subject;
  const price = (side: "ask" | "bid", quantity: bigint): DescribedOrder => {
    const intent = { side, contract, tokenId, unitPriceWei, maker, standard, quantity };
    const priced = priceItem(intent, terms, royalty, makerFunds?.counter);
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
  };
  const listing = tokenId === null ? null : price("ask", request.quantity);
  return { makerFunds, listing, bid: price("bid", 1n) };
}

type Subject = RequestedToken & { unitPriceWei: bigint; royaltyCase: RoyaltyCase };

/** The token and its price; null: one of them is unspecified. */
async function readSubject(
  market: Market,
  request: OrderParametersRequest,
): Promise<Subject | null> {
  const { chainId, kind, contract, tokenId, unitPriceWei } = request;
  if (contract === null || unitPriceWei === null) return null;
  if (kind === "item" && tokenId === null) return null;
  const [known, [royaltyCase]] = await Promise.all([
    readKnownContracts(market.writer, chainId, [contract]),
    readRoyaltyCases(market.writer, chainId, [{ contract, tokenId, unitPriceWei }]),
  ]);
  if (royaltyCase === undefined) return null;
  return { contract, tokenId, known: known.get(contract), unitPriceWei, royaltyCase };
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

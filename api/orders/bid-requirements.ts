import { type Address, maxUint256 } from "viem";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { MarketTerms } from "#projections/domain/orders/order-terms.ts";
import { validateBidState, validateExposure } from "#projections/domain/orders/validate-state.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
import { readBlocked, rejectBlocked } from "./blocked-makers.ts";
import {
  type MakerFunds,
  makerFundsFrom,
  makerFundsQueries,
  type PricedRequest,
  priceRequestedItem,
  type RequestedItem,
  type RequirementsRequest,
  readRequestedItems,
  readTokenSources,
  type TokenSources,
  tokenQueries,
  tokenStateOf,
} from "./requested-items.ts";
import { royaltyQueries } from "./royalty.ts";

/** `tokenId` is null for a bid on every token of the contract. */
export type BidItem = {
  contract: Address;
  tokenId: bigint | null;
  quantity: bigint;
  unitPriceWei: bigint;
};

export type BidRequirement = PricedRequest & {
  item: BidItem;
  /** Why the bid would be rejected even with a sufficient allowance. */
  blocked: Rejection<IntakeCode> | null;
};

export type BidRequirements = MakerFunds & {
  /** For the open bids and every item that is not blocked. */
  requiredAllowanceWei: bigint;
  items: BidRequirement[];
};

/** What the maker needs to bid on each item, by one round of chain queries. */
export async function readBidRequirements(
  request: RequirementsRequest,
  requested: readonly BidItem[],
): Promise<BidRequirements | Rejection<"rpc_unavailable">> {
  const { market, chainId, maker, now } = request;
  const terms = market.terms(chainId);
  const [items, openOffersWei, blockedMakers] = await Promise.all([
    readRequestedItems(request, requested),
    readOpenBidsWei(market.writer, chainId, maker, now),
    readBlocked(market.writer, [maker]),
  ]);
  const results = await queryChainOrReject(market, chainId, [
    ...makerFundsQueries(maker, terms),
    ...royaltyQueries(items.map(({ royaltyCase }) => royaltyCase)),
    ...items.flatMap(tokenQueries),
  ]);
  if (isRejection(results)) return results;
  const makerFunds = makerFundsFrom(results, maker, terms, openOffersWei);
  if (isRejection(makerFunds)) return makerFunds;
  const sources = await readTokenSources(market, chainId, { items, results });
  const isBlocked = blockedMakers.has(maker);
  const { bidExposure } = market.quotas;
  const context = { ...sources, makerFunds, terms, isBlocked, bidExposure };
  const rows = items.map((item) => requirementOf(item, context));
  const itemsWei = rows
    .filter(({ blocked }) => blocked === null)
    .reduce((sum, { item }) => sum + item.unitPriceWei * item.quantity, 0n);
  return { ...makerFunds, requiredAllowanceWei: makerFunds.openOffersWei + itemsWei, items: rows };
}

type RequirementContext = TokenSources & {
  makerFunds: MakerFunds;
  terms: MarketTerms;
  isBlocked: boolean;
  bidExposure: number;
};

function requirementOf(item: RequestedItem<BidItem>, context: RequirementContext): BidRequirement {
  const { makerFunds, isBlocked, bidExposure } = context;
  const { counter, balanceWei, openOffersWei: openBidsWei } = makerFunds;
  const { priced, order } = priceRequestedItem("bid", item, { ...context, counter });
  const state = isRejection(order)
    ? order
    : validateBidState(order, {
        ...tokenStateOf(item, context),
        status: { cancelled: false, filled: 0n, size: 0n },
        balanceWei,
        // The maker approves after this request: a missing allowance does not block.
        allowanceWei: maxUint256,
        openBidsWei: 0n,
      });
  const bidWei = item.unitPriceWei * item.quantity;
  const blocked =
    state ??
    (isBlocked ? rejectBlocked(item.maker) : null) ??
    validateExposure(bidWei, { openBidsWei, balanceWei }, bidExposure);
  return { item, ...priced, blocked };
}

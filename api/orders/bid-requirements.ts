import { type Address, maxUint256 } from "viem";
import { readBlocked, rejectBlocked } from "#api/orders/intake/makers.ts";
import { queryChainOrReject } from "#jobs/orders/evaluate-order.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { Criteria, MarketTerms } from "#projections/domain/orders/order-terms.ts";
import { validateBidState, validateExposure } from "#projections/domain/orders/validate-state.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import { readOpenBidsWei } from "#projections/orders/read-bids.ts";
import { type Coverage, type CriteriaRequest, readCoverage } from "./criteria.ts";
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

/** `tokenId` is null for a bid on several tokens of the contract: those of `request`, or every one. */
export type BidItem = {
  contract: Address;
  tokenId: bigint | null;
  request: CriteriaRequest | null;
  quantity: bigint;
  unitPriceWei: bigint;
};

export type BidRequirement = PricedRequest & {
  item: BidItem;
  /** The tokens that it is for; null: one, every one, or what was sent names none. */
  coverage: Coverage | null;
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
    readTokens(request, requested).then((coverage) => readRequestedItems(request, coverage)),
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

/** An item with the tokens that it is for, or why what was sent names none. */
type CoveringItem = BidItem & {
  coverage: Coverage | Rejection<IntakeCode> | null;
  criteria?: Criteria;
};

/** One after the other: a list of tokens takes its time to hash. */
async function readTokens(
  { market: { writer }, chainId }: RequirementsRequest,
  items: readonly BidItem[],
): Promise<CoveringItem[]> {
  const rows: CoveringItem[] = [];
  for (const item of items) {
    const { contract, request } = item;
    const coverage =
      request === null ? null : await readCoverage(writer, { chainId, contract }, request);
    const criteria =
      coverage === null || isRejection(coverage) ? {} : { criteria: coverage.criteria };
    rows.push({ ...item, coverage, ...criteria });
  }
  return rows;
}

type RequirementContext = TokenSources & {
  makerFunds: MakerFunds;
  terms: MarketTerms;
  isBlocked: boolean;
  bidExposure: number;
};

function requirementOf(
  item: RequestedItem<CoveringItem>,
  context: RequirementContext,
): BidRequirement {
  const { coverage } = item;
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
  // Without its tokens a bid would be for every one.
  if (coverage !== null && isRejection(coverage))
    return { item, coverage: null, ...priced, components: null, blocked: coverage };
  return { item, coverage, ...priced, blocked };
}

import { type Address, maxUint256 } from "viem";
import type { IntakeCode } from "../../../../projections/domain/intake/intake-codes.ts";
import type { MarketTerms } from "../../../../projections/domain/orders/market-terms.ts";
import { validateBidState } from "../../../../projections/domain/orders/validate-state.ts";
import { isRejection, type Rejection } from "../../../../projections/domain/rejection.ts";
import { readOpenBidsWei } from "../../../../projections/reads/bids/read-open-bids-wei.ts";
import type { ChainResults } from "../../chain/query-chain.ts";
import { queryChainOrReject } from "../market/query-chain-or-reject.ts";
import { royaltyQueries } from "../market/royalty.ts";
import { type MakerFunds, makerFundsFrom, makerFundsQueries } from "./maker-funds.ts";
import {
  type PricedRequest,
  priceRequestedItem,
  type RequestedItem,
  type RequirementsRequest,
  readRequestedItems,
} from "./requested-item.ts";
import { tokenQueries, tokenStateOf } from "./requested-token.ts";

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
  const [items, openOffersWei] = await Promise.all([
    readRequestedItems(request, requested),
    readOpenBidsWei(market.writer, chainId, maker, now),
  ]);
  const results = await queryChainOrReject(market, chainId, [
    ...makerFundsQueries(maker, terms),
    ...royaltyQueries(items.map(({ royaltyCase }) => royaltyCase)),
    ...items.flatMap(tokenQueries),
  ]);
  if (isRejection(results)) return results;
  const makerFunds = makerFundsFrom(results, maker, terms, openOffersWei);
  if (isRejection(makerFunds)) return makerFunds;
  const indexesAllContracts = market.indexesAllContracts(chainId);
  const context = { results, makerFunds, terms, indexesAllContracts };
  const rows = items.map((item) => requirementOf(item, context));
  const itemsWei = rows
    .filter(({ blocked }) => blocked === null)
    .reduce((sum, { item }) => sum + item.unitPriceWei * item.quantity, 0n);
  return { ...makerFunds, requiredAllowanceWei: makerFunds.openOffersWei + itemsWei, items: rows };
}

type RequirementContext = {
  results: ChainResults;
  makerFunds: MakerFunds;
  terms: MarketTerms;
  indexesAllContracts: boolean;
};

function requirementOf(
  item: RequestedItem<BidItem>,
  { results, makerFunds, terms, indexesAllContracts }: RequirementContext,
): BidRequirement {
  const { counter, balanceWei } = makerFunds;
  const { priced, order } = priceRequestedItem("bid", item, { results, terms, counter });
  const blocked = isRejection(order)
    ? order
    : validateBidState(order, {
        ...tokenStateOf(item, results, indexesAllContracts),
        status: { cancelled: false, filled: 0n, size: 0n },
        balanceWei,
        // The maker approves after this request: a missing allowance does not block.
        allowanceWei: maxUint256,
        openBidsWei: 0n,
      });
  return { item, ...priced, blocked };
}

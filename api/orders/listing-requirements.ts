import type { Address } from "viem";
import { readBlocked, rejectBlocked } from "#api/orders/intake/makers.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import {
  chainUnavailable,
  isConduitApproved,
  queryChainOrReject,
} from "#jobs/orders/evaluate-order.ts";
import type { IntakeCode } from "#projections/domain/intake-codes.ts";
import type { MarketTerms, ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import {
  type ListingState,
  validateListingState,
  validatePriceRaise,
} from "#projections/domain/orders/validate-state.ts";
import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import {
  type NativeListing,
  readCheaperNativeListings,
} from "#projections/orders/read-listings.ts";
import {
  type CrossListingDraft,
  draftCrossListing,
  fetchPartnerTermsByContract,
  type PartnerTerms,
} from "./partner-terms.ts";
import {
  type PricedRequest,
  priceRequestedItem,
  type RequestedItem,
  type RequirementsRequest,
  readRequestedItems,
  readTokenSources,
  requestedTransferQueries,
  type TokenSources,
  tokenQueries,
  tokenStateOf,
} from "./requested-items.ts";
import { royaltyQueries } from "./royalty.ts";

export type ListingItem = {
  contract: Address;
  tokenId: bigint;
  quantity: bigint;
  unitPriceWei: bigint;
};

export type ListingRequirement = PricedRequest & {
  item: ListingItem;
  /** Units the maker holds, 1 or 0 of an ERC-721. Null: unknown. */
  heldUnits: bigint | null;
  /** Null: unknown. */
  isApproved: boolean | null;
  /** Why the listing would be rejected even with the conduit approved. */
  blocked: Rejection<IntakeCode> | null;
  /** Its cross-listing; null: no partner accepts one, or the partner's terms are unavailable. */
  crossListing: CrossListingDraft | null;
};

export type ListingRequirements = { counter: bigint; items: ListingRequirement[] };

/** What the maker needs to list each item, by one round of chain queries. */
export async function readListingRequirements(
  request: RequirementsRequest & { caller: string },
  requested: readonly ListingItem[],
): Promise<ListingRequirements | Rejection<"rpc_unavailable">> {
  const { market, chainId, maker, caller, now } = request;
  const contracts = requested.map(({ contract }) => contract);
  const ofMaker = requested.map((item) => ({ ...item, maker }));
  const [items, cheaper, partnerTerms, blockedMakers] = await Promise.all([
    readRequestedItems(request, requested),
    readCheaperNativeListings(market.writer, chainId, ofMaker, now),
    fetchPartnerTermsByContract(market.partners, chainId, contracts, caller),
    readBlocked(market.writer, [maker]),
  ]);
  const results = await queryChainOrReject(market, chainId, [
    { kind: "counter_read", maker },
    { kind: "channel_read" },
    ...royaltyQueries(items.map(({ royaltyCase }) => royaltyCase)),
    ...items.flatMap(listingQueries),
    ...cheaper.map(statusQuery),
  ]);
  if (isRejection(results)) return results;
  const counter = results.find({ kind: "counter_read", maker })?.counter;
  const channelOpen = results.find({ kind: "channel_read" })?.open;
  if (counter === undefined || channelOpen === undefined) return chainUnavailable();
  const terms = market.terms(chainId);
  const ownListings = cheaper.filter(
    (one) => one.counter === counter && !results.find(statusQuery(one))?.cancelled,
  );
  const sources = await readTokenSources(market, chainId, { items, results });
  const isBlocked = blockedMakers.has(maker);
  const context = { ...sources, counter, channelOpen, ownListings, terms, partnerTerms, isBlocked };
  return { counter, items: items.map((item) => requirementOf(item, context)) };
}

type ListedItem = RequestedItem<ListingItem>;

type RequirementContext = TokenSources & {
  counter: bigint;
  /** Whether the conduit's channel to the exchange is open. */
  channelOpen: boolean;
  /** The maker's open cheaper listings. */
  ownListings: readonly NativeListing[];
  terms: MarketTerms;
  partnerTerms: ReadonlyMap<Address, PartnerTerms>;
  isBlocked: boolean;
};

function requirementOf(item: ListedItem, context: RequirementContext): ListingRequirement {
  const { priced, order } = priceRequestedItem("ask", item, context);
  const { state, ...holding } = holdingOf(item, context);
  const blocked = isRejection(order)
    ? order
    : (validateListingState(order, state) ??
      (context.isBlocked ? rejectBlocked(item.maker) : null) ??
      validateOwnPrices(order, context.ownListings));
  const intent = { ...item, standard: priced.standard };
  const crossListing = draftCrossListing(intent, context.partnerTerms.get(item.contract));
  return { item, ...priced, ...holding, blocked, crossListing };
}

function listingQueries(item: ListedItem): ChainQuery[] {
  const { contract, tokenId, known, maker: owner } = item;
  const units: ChainQuery[] =
    known === "erc721" ? [] : [{ kind: "units_read", contract, tokenId, owner }];
  return [
    ...tokenQueries(item),
    ...Object.values(approvalQueries(item)),
    ...units,
    ...requestedTransferQueries(item),
  ];
}

/** Of a contract of an unknown standard both approvals are asked for. */
function approvalQueries({ contract, tokenId, known, maker: owner }: ListedItem) {
  return {
    approval: { kind: "approval_read", contract, owner } as const,
    ...(known !== "erc1155" && {
      tokenApproval: { kind: "token_approval_read", contract, tokenId } as const,
    }),
  };
}

const statusQuery = ({ orderHash }: NativeListing) =>
  ({ kind: "order_status_read", orderHash }) as const;

type Holding = Pick<ListingRequirement, "heldUnits" | "isApproved"> & { state: ListingState };

/** Balance and approval of the maker. */
function holdingOf(item: ListedItem, context: RequirementContext): Holding {
  const { results, channelOpen } = context;
  const { contract, tokenId, maker: owner } = item;
  const tokenState = tokenStateOf(item, context);
  const units =
    tokenState.standard === "erc1155"
      ? results.find({ kind: "units_read", contract, tokenId, owner })?.units
      : undefined;
  const ownedUnits =
    tokenState.owner === undefined ? undefined : BigInt(tokenState.owner === owner);
  const isApproved = isConduitApproved(approvalQueries(item), results) ?? null;
  const [transfer] = requestedTransferQueries(item);
  return {
    heldUnits: ownedUnits ?? units ?? null,
    isApproved,
    state: {
      ...tokenState,
      units,
      // The maker approves after this request: a missing approval does not block.
      approved: true,
      channelOpen,
      status: { cancelled: false, filled: 0n, size: 0n },
      transferAllowed: isApproved && transfer ? results.find(transfer)?.allowed : undefined,
    },
  };
}

/** Only for ERC-721: units of an ERC-1155 token may be listed at several prices. */
function validateOwnPrices(order: ParsedOrder, own: readonly NativeListing[]) {
  if (order.standard !== "erc721") return null;
  const cheaper = own.find(
    ({ contract, tokenId, unitPriceWei }) =>
      contract === order.contract && tokenId === order.tokenId && unitPriceWei < order.unitPriceWei,
  );
  return validatePriceRaise(order, cheaper ?? null);
}

import { zeroAddress } from "viem";
import { z } from "zod";
import { documentAs } from "#api/http/query.ts";
import { type ListingMarketplace, listingMarketplaces } from "#projections/domain/marketplaces.ts";
import type { BidKind } from "#projections/domain/orders/order-terms.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type Depth,
  type DepthPart,
  readBidDepth,
  readListingDepth,
} from "#projections/orders/read-depth.ts";
import type { Moment } from "#projections/past/moment.ts";
import { readPastDepth } from "#projections/past/read-past-depth.ts";
import {
  contractsOfReference,
  LinkedCollection,
  presentLinkedCollection,
  referTo,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { atOfOrders, MomentMeta, momentMeta, momentOfFigures } from "../moment.ts";
import { chainId, chainRefusals, collectionKey } from "../parameters.ts";
import { foldPast, pointParts, pointRefusals } from "../point.ts";
import { currency, displayAmount, presentCurrency, uint256Text } from "../wire.ts";

const orders = z.int().min(0).meta({ description: "Active orders." });
const units = uint256Text.meta({ description: "Units that can be filled." });
const unitsCumulated = uint256Text.meta({ description: "Units at this price and better ones." });

const pricePart = {
  price: z.number().meta({
    description: "Per unit, in `currency`; the wrapped native currency counts as the native.",
  }),
  priceWei: uint256Text.meta({ description: "Per unit." }),
};
const truncated = z.boolean().meta({
  description: "True: there are more orders, of further prices or of the last one shown.",
});

const AskLevel = z
  .object({
    ...pricePart,
    orders,
    units,
    marketplaces: z.array(z.object({ marketplace: z.enum(listingMarketplaces), orders, units })),
    unitsCumulated,
    weiCumulated: uint256Text.meta({
      description: "What all units at this price and better ones cost.",
    }),
  })
  .meta({ id: "AskLevel" });

const OffersAtPrice = z
  .object({
    orders,
    units,
    unitsCumulated,
    sellerNetWeiCumulated: uint256Text.meta({
      description: "What sellers receive for all units at this price and better ones.",
    }),
  })
  .meta({ id: "OffersAtPrice" });

const BidLevel = z
  .object({
    ...pricePart,
    bestSellerNetWei: uint256Text.meta({
      description: "The most that a seller receives for one unit at this price.",
    }),
    collectionOffers: OffersAtPrice,
    tokenOffers: OffersAtPrice,
    criteriaOffers: OffersAtPrice,
  })
  .meta({ id: "BidLevel" });

/** The order book of a collection, by price. */
const depthFields = {
  listings: z.object({
    levels: z.array(AskLevel).meta({ description: "Lowest price first." }),
    truncated,
  }),
  bids: z.object({
    levels: z.array(BidLevel).meta({
      description:
        "Highest price first. Offers on the collection take any token, those on traits and lists (criteria) one of theirs. Each bid is covered by its maker's balance for itself, not all bids of a maker together.",
    }),
    truncated,
  }),
};

function presentAskDepth({ parts, isTruncated }: Depth<ListingMarketplace>) {
  let [unitsSoFar, weiSoFar] = [0n, 0n];
  const levels = [...byPrice(parts)].map(([priceWei, own]) => {
    const total = sumOf(own);
    unitsSoFar += total.units;
    weiSoFar += total.units * priceWei;
    return {
      ...presentLevelPrice(priceWei),
      ...presentSum(total),
      marketplaces: own.map((one) => ({ marketplace: one.part, ...presentSum(one) })),
      unitsCumulated: String(unitsSoFar),
      weiCumulated: String(weiSoFar),
    };
  });
  return { levels, truncated: isTruncated };
}

function presentBidDepth({ parts, isTruncated }: Depth<BidKind>) {
  const [ofCollection, ofTokens, ofCriteria] = [cumulator(), cumulator(), cumulator()];
  const levels = [...byPrice(parts)].map(([priceWei, own]) => ({
    ...presentLevelPrice(priceWei),
    bestSellerNetWei: String(highestNet(own)),
    collectionOffers: ofCollection(own.filter(({ part }) => part === "collection")),
    tokenOffers: ofTokens(own.filter(({ part }) => part === "single-token")),
    criteriaOffers: ofCriteria(own.filter(({ part }) => part === "trait" || part === "token-list")),
  }));
  return { levels, truncated: isTruncated };
}

type Sum = Pick<DepthPart<string>, "orders" | "units" | "netWei">;

/** Presents the offers of one level after another. */
function cumulator() {
  let [units, netWei] = [0n, 0n];
  return (own: readonly Sum[]) => {
    const total = sumOf(own);
    units += total.units;
    netWei += total.netWei;
    return {
      ...presentSum(total),
      unitsCumulated: String(units),
      sellerNetWeiCumulated: String(netWei),
    };
  };
}

/** Parts of each price, in their order. */
function byPrice<Part extends string>(parts: readonly DepthPart<Part>[]) {
  const groups = new Map<bigint, DepthPart<Part>[]>();
  for (const one of parts) {
    const group = groups.get(one.priceWei) ?? [];
    groups.set(one.priceWei, [...group, one]);
  }
  return groups;
}

function sumOf(parts: readonly Sum[]): Sum {
  const none = { orders: 0n, units: 0n, netWei: 0n };
  return parts.reduce(
    (sum, one) => ({
      orders: sum.orders + one.orders,
      units: sum.units + one.units,
      netWei: sum.netWei + one.netWei,
    }),
    none,
  );
}

function highestNet(parts: readonly DepthPart<BidKind>[]): bigint {
  return parts.reduce((best, { bestNetWei }) => (bestNetWei > best ? bestNetWei : best), 0n);
}

function presentLevelPrice(priceWei: bigint) {
  return { price: displayAmount(priceWei), priceWei: String(priceWei) };
}

function presentSum({ orders, units }: Sum) {
  return { orders: Number(orders), units: String(units) };
}

const levels = z
  .string()
  .regex(/^([1-9]\d?|1\d\d|200)$/, "must be a whole number from 1 to 200")
  .transform(Number)
  .default(50)
  .meta({
    description: "Prices of each side at most, the best ones.",
    override: documentAs({
      type: "integer",
      minimum: 1,
      maximum: 200,
      default: 50,
      pattern: undefined,
    }),
  });

export const BookDepth = z
  .object({
    collection: LinkedCollection,
    currency,
    ...depthFields,
  })
  .meta({ id: "BookDepth" });

export const depth = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/depth",
    operationId: "getDepth",
    tag: "Collections",
    loadClass: "book",
    summary: "Order book of a collection by price: active listings, and bids on it and its tokens",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId", "levels"],
    query: z.object({ chainId, levels, at: atOfOrders("Orders as they were then.") }),
    data: BookDepth,
    meta: MomentMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, now }) => {
    const { chainId, levels } = query;
    const collection = await referTo(db, chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(chainId, params.collection);
    const contractIds = contractsOfReference(collection);
    const moment = await momentOfFigures(db, query, now());
    if (isRejection(moment)) return moment;
    const read = await foldPast(() => readDepthOf(db, contractIds, levels, moment ?? now()));
    if (isRejection(read)) return read;
    const [asks, bids] = read;
    return {
      data: {
        collection: presentLinkedCollection(collection, { siteUrl, chainId }),
        currency: presentCurrency(chainId, zeroAddress),
        listings: presentAskDepth(asks),
        bids: presentBidDepth(bids),
      },
      meta: momentMeta(moment),
      ...pointParts(moment?.point ?? null),
    };
  },
);

async function readDepthOf(
  db: Database,
  contractIds: readonly number[],
  levels: number,
  at: Moment | Date,
) {
  if (!(at instanceof Date)) return await readPastDepth(db, contractIds, levels, at);
  return await Promise.all([
    readListingDepth(db, contractIds, levels, at),
    readBidDepth(db, contractIds, levels, at),
  ]);
}

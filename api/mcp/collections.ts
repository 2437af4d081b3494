import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { collection } from "../v1/collections/collections.ts";
import { depth } from "../v1/collections/depth.ts";
import { holders } from "../v1/collections/holders.ts";
import { tokens } from "../v1/collections/tokens.ts";
import { traits } from "../v1/collections/traits.ts";
import { prepareSearch, search } from "../v1/search.ts";
import { presentHeldToken } from "./present.ts";
import { read, readingTool } from "./tool.ts";
import { coinText, collectionArgument, cursorArgument, rowsArgument, usdText } from "./words.ts";

export const findByText = readingTool({
  name: "find_collection",
  title: "Find a collection, token or wallet",
  description:
    "Finds collections by name, slug or address, tokens by name or `collection 12`, wallets by ENS name. Names are not unique: `verified` ones were checked by the operator.",
  place: "chains",
  loadClass: "data",
  fields: { text: z.string().min(2).max(200), rows: rowsArgument(20, 5) },
  prepare: ({ text }, context) => prepareSearch({ q: text }, context),
  answer: async ({ text, rows }, context) => {
    // Of all chains: it names the chain of what it finds.
    const { chainId, ...others } = context;
    const query = { q: text, limit: `${rows}`, chainId: undefined };
    const found = await read(search, { query }, { ...others, chainId });
    if (isRejection(found)) return found;
    const { collections, tokens, wallets } = found.data;
    return {
      collections: collections.map(({ chainId, slug, address, name, ...one }) => ({
        ...{ name, slug, address, chainId, verified: one.verified },
        ...{ standard: one.standard, holders: one.holders, sales: one.sales },
        ...(one.sameNameAs !== null && { sameNameAs: one.sameNameAs.address }),
        url: one.urls.collection,
      })),
      tokens: tokens.map(({ chainId, contract, tokenId, name, urls }) => ({
        ...{ name, collection: contract, tokenId, chainId, url: urls.token },
      })),
      wallets: wallets.map(({ address, ensName, urls }) => ({
        ...{ address, ensName, url: urls.wallet },
      })),
    };
  },
});

export const floorAndDepth = readingTool({
  name: "floor_and_depth",
  title: "Floor and depth of a collection",
  description:
    "Floor, best offer, volume, supply and holders of a collection, and its order book by price over all marketplaces: units listed and wanted at each price, cumulated.",
  loadClass: "book",
  fields: { collection: collectionArgument, levels: z.int().min(1).max(50).default(5) },
  answer: async ({ collection: name, levels }, context) => {
    const params = { collection: name };
    const found = await read(collection, { params }, context);
    if (isRejection(found)) return found;
    const book = await read(depth, { params, query: { levels: `${levels}` } }, context);
    if (isRejection(book)) return book;
    const { stats, urls } = found.data;
    const coins = (wei: string) => coinText(wei, context.chainId);
    return {
      ...{ name: found.data.name, slug: found.data.slug, address: found.data.address },
      chainId: context.chainId,
      floor: stats.floor && {
        price: `${coins(stats.floor.priceWei)}`,
        usd: usdText(stats.floor.usd),
        ...{ tokenId: stats.floor.tokenId, marketplace: stats.floor.marketplace },
        ...{ askId: stats.floor.askId, buyableHere: stats.floor.buyableViaApi },
      },
      bestOffer: stats.bestOffer && {
        price: coins(stats.bestOffer.priceWei),
        sellerGets: coins(stats.bestOffer.sellerNetWei),
        bidId: stats.bestOffer.bidId,
      },
      floorChange: stats.change,
      volume: mapValues(stats.volumeWei, coins),
      sales: stats.sales,
      ...{ listed: stats.listed, supply: stats.supplyExact, holders: stats.holders },
      listings: book.data.listings.levels.map((level) => ({
        price: coins(level.priceWei),
        units: level.units,
        unitsSoFar: level.unitsCumulated,
        costSoFar: coins(level.weiCumulated),
      })),
      offers: book.data.bids.levels.map(({ collectionOffers, tokenOffers, ...level }) => ({
        price: coins(level.priceWei),
        sellerGets: coins(level.bestSellerNetWei),
        unitsForAnyToken: collectionOffers.units,
        unitsForOneToken: tokenOffers.units,
        unitsForSomeTokens: level.criteriaOffers.units,
      })),
      url: urls.collection,
    };
  },
});

function mapValues(
  values: Readonly<Record<string, string | undefined>>,
  text: (wei: string) => string,
) {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, wei]) => (wei === undefined ? [] : [[name, text(wei)]])),
  );
}

export const collectionTraits = readingTool({
  name: "collection_traits",
  title: "Traits of a collection",
  description:
    "Trait types and their values, with how many tokens have each, how many of them are listed, and the cheapest of these. With `type` all values of that type.",
  fields: {
    collection: collectionArgument,
    type: z.string().max(200).optional(),
    cursor: cursorArgument,
  },
  answer: async ({ collection, type, cursor }, context) => {
    const found = await read(traits, { params: { collection }, query: { type, cursor } }, context);
    if (isRejection(found)) return found;
    const most = type === undefined ? valuesOfEach : Number.POSITIVE_INFINITY;
    const coins = (wei: string) => coinText(wei, context.chainId);
    return {
      traits: found.data.traitTypes.map(({ type, values, truncated }) => ({
        type,
        values: values.slice(0, most).map(({ value, count, listed, floorWei }) => ({
          ...{ value, tokens: count, listed },
          ...(floorWei !== null && { floor: coins(floorWei) }),
        })),
        ...((truncated || values.length > most) && { hasMoreValues: true }),
      })),
      more: found.meta?.next_cursor ?? undefined,
      url: found.data.collection.urls.collection,
    };
  },
});

/** Values of a type in an answer about all types. */
const valuesOfEach = 15;

export const cheapestListings = readingTool({
  name: "cheapest_listings",
  title: "Cheapest listed tokens, also with traits",
  description:
    "The cheapest listed tokens of a collection over all marketplaces, one listing each, optionally only those with all the given traits (names as collection_traits tells them).",
  loadClass: "book",
  fields: {
    collection: collectionArgument,
    traits: z.record(z.string(), z.string()).optional().describe('As {"Fur":"Gold"}, at most 5'),
    rows: rowsArgument(50, 5),
    cursor: cursorArgument,
  },
  answer: async ({ collection, traits, rows, cursor }, context) => {
    const query = { listed: "true", sort: "price_asc", traits, per_page: `${rows}`, cursor };
    const found = await read(tokens, { params: { collection }, query }, context);
    if (isRejection(found)) return found;
    return {
      listedTokens: found.meta?.total,
      tokens: found.data.map((one) => presentHeldToken(one)),
      more: found.meta?.next_cursor ?? undefined,
    };
  },
});

export const topHolders = readingTool({
  name: "top_holders",
  title: "Holders of a collection",
  description: "How many wallets hold tokens of a collection, and those that hold the most.",
  fields: { collection: collectionArgument, rows: rowsArgument(100, 10), cursor: cursorArgument },
  answer: async ({ collection, rows, cursor }, context) => {
    const query = { per_page: `${rows}`, cursor };
    const found = await read(holders, { params: { collection }, query }, context);
    if (isRejection(found)) return found;
    return {
      wallets: found.meta?.total,
      holders: found.data.map(({ address, tokens, units }) => ({ address, tokens, units })),
      more: found.meta?.next_cursor ?? undefined,
    };
  },
});

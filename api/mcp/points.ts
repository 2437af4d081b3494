import { z } from "zod";
import { isRejection, type Rejection, reject } from "#projections/domain/rejection.ts";
import { depth } from "../v1/collections/depth.ts";
import { holders } from "../v1/collections/holders.ts";
import { tokenHolders, tokenOwnership } from "../v1/collections/token-ownership.ts";
import { listListings } from "../v1/orders/listings.ts";
import { walletTokens } from "../v1/wallet-tokens.ts";
import { read, readingTool, type ToolContext } from "./tool.ts";
import {
  amountText,
  coinText,
  collectionArgument,
  rowsArgument,
  tokenIdArgument,
  walletArgument,
} from "./words.ts";

type PointArguments = { readonly at: string; readonly rows: string };

export const stateAtBlock = readingTool({
  name: "state_at_block",
  title: "State at a block or time",
  description:
    "As it was at the end of a past block. Of a `collection`: floor, best offer, order book by price, holders. With `tokenId`: owner or holders, and active listings. Of a `wallet`: the tokens it held, of one collection or of all. `block` in the answer is the block it is true of.",
  loadClass: "book",
  fields: {
    at: z.string().max(100).describe("Block number, block hash or ISO time"),
    collection: collectionArgument.optional(),
    tokenId: tokenIdArgument.optional(),
    wallet: walletArgument.optional(),
    rows: rowsArgument(50, 10),
  },
  answer: async ({ collection, tokenId, wallet, at, rows }, context) => {
    const asked = { at, rows: `${rows}` };
    if (wallet !== undefined) return await walletThen(wallet, { ...asked, collection }, context);
    if (collection === undefined)
      return reject("invalid_parameters", "collection or wallet must be given");
    if (tokenId !== undefined) return await tokenThen({ collection, tokenId }, asked, context);
    return await collectionThen(collection, asked, context);
  },
});

async function collectionThen(
  collection: string,
  { at, rows }: PointArguments,
  context: ToolContext,
): Promise<object | Rejection> {
  const params = { collection };
  const book = await read(depth, { params, query: { at, levels: "5" } }, context);
  if (isRejection(book)) return book;
  const held = await read(holders, { params, query: { at, per_page: rows } }, context);
  if (isRejection(held)) return held;
  const { listings, bids } = book.data;
  const coins = (wei: string) => coinText(wei, context.chainId);
  const [floor, best] = [listings.levels[0], bids.levels[0]];
  return {
    block: book.meta?.at,
    floor: floor === undefined ? null : coins(floor.priceWei),
    bestOffer: best === undefined ? null : coins(best.priceWei),
    listings: listings.levels.map(({ priceWei, units }) => ({ price: coins(priceWei), units })),
    offers: bids.levels.map(({ priceWei, ...level }) => ({
      price: coins(priceWei),
      unitsForAnyToken: level.collectionOffers.units,
      unitsForOneToken: level.tokenOffers.units,
      unitsForSomeTokens: level.criteriaOffers.units,
    })),
    wallets: held.meta?.total,
    holders: held.data.map(({ address, tokens, units }) => ({ address, tokens, units })),
  };
}

async function tokenThen(
  params: { readonly collection: string; readonly tokenId: string },
  { at, rows }: PointArguments,
  context: ToolContext,
): Promise<object | Rejection> {
  const owned = await read(tokenOwnership, { params, query: { at } }, context);
  if (isRejection(owned)) return owned;
  const { owner, standard } = owned.data;
  const held =
    standard === "erc721"
      ? null
      : await read(tokenHolders, { params, query: { at, per_page: rows } }, context);
  if (isRejection(held)) return held;
  const query = { collection: params.collection, token_id: params.tokenId, at, per_page: rows };
  const listed = await read(listListings, { query }, context);
  if (isRejection(listed)) return listed;
  return {
    ...{ block: listed.meta?.at, standard, owner, isBurned: owned.data.isBurned },
    ...(held !== null && { holders: held.data }),
    listings: listed.data.map((one) => ({
      price: amountText(one.priceWei, one.currency),
      ...{ marketplace: one.marketplace, seller: one.maker, units: one.quantityFillableExact },
      expires: one.expiresAt,
    })),
  };
}

async function walletThen(
  wallet: string,
  { at, rows, collection }: PointArguments & { readonly collection: string | undefined },
  context: ToolContext,
): Promise<object | Rejection> {
  const fields = "collection,contract,tokenId,units";
  const query = { at, collection, fields, per_page: rows };
  const found = await read(walletTokens, { params: { wallet }, query }, context);
  if (isRejection(found)) return found;
  return {
    block: found.meta?.at,
    tokens: found.data.map(({ collection: { name }, contract, tokenId, units }) => ({
      ...{ collection: name ?? contract, contract, tokenId, held: units },
    })),
    ...(found.meta?.next_cursor && { hasMore: true }),
  };
}

import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { readListingPage } from "../../../../projections/reads/listings/read-page.ts";
import { cutPage, pageFields, pageMeta, pageOf, pageRefusals } from "../../http/page.ts";
import { Listing, presentListing } from "../../views/listing.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../context.ts";
import { orderKey, orderKeyOf, tokenWithoutCollection } from "../orders/book-page.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  marketplace,
  nativeAmount,
  openStatus,
  orderSort,
  tokenId,
  wallet,
} from "../parameters.ts";

export const listListings = route(
  {
    method: "get",
    path: "/v1/listings",
    tag: "Listings",
    summary: "Listings that can be bought, or that are hidden for the time being",
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      token_id: tokenId.optional(),
      maker: wallet.optional(),
      status: openStatus,
      min_price: nativeAmount.optional(),
      max_price: nativeAmount.optional(),
      sort: orderSort.default("price_asc"),
      marketplace,
      ...pageFields,
    }),
    data: z.array(Listing),
    meta: pageMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pageRefusals },
    isKept: true,
  },
  async ({ query }, { db, siteUrl, market, now }) => {
    const unusable = tokenWithoutCollection(query);
    if (unusable !== undefined) return unusable;
    const contractIds = await salesContracts(db, query);
    if (contractIds === undefined) return noCollection(query.chainId, query.collection);

    const filter = {
      chainId: query.chainId,
      contractIds,
      tokenId: query.token_id ?? null,
      maker: query.maker ?? null,
      status: query.status,
      marketplace: query.marketplace,
      minPriceWei: query.min_price ?? null,
      maxPriceWei: query.max_price ?? null,
    };
    const { sort } = query;
    const contracts = contractIds?.join() ?? null;
    const scope = { list: "listings", sort, ...filter, contractIds: contracts };
    const request = pageOf(query, scope, orderKey);
    if (isRejection(request)) return request;
    const { rows, total } = await readListingPage(db, filter, sort, request.read, now());
    const { shown, meta } = cutPage(request, rows, orderKeyOf(sort));
    return {
      data: shown.map((row) => presentListing(row, { siteUrl, prefix: market.prefix })),
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);

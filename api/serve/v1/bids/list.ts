import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { readBidPage } from "../../../../projections/reads/bids/read-page.ts";
import { cutPage, pageFields, pageMeta, pageOf, pageRefusals } from "../../http/page.ts";
import { Bid, bidKind, presentBid } from "../../views/bid.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../context.ts";
import { orderKey, orderKeyOf, tokenWithoutCollection } from "../orders/book-page.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  openStatus,
  orderSort,
  tokenId,
  wallet,
} from "../parameters.ts";

export const listBids = route(
  {
    method: "get",
    path: "/v1/bids",
    tag: "Bids",
    summary: "Bids that can be accepted, or that are hidden for the time being",
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      token_id: tokenId.optional(),
      maker: wallet.optional(),
      status: openStatus,
      kind: bidKind.optional(),
      sort: orderSort.default("price_desc"),
      ...pageFields,
    }),
    data: z.array(Bid),
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
      kind: query.kind ?? null,
    };
    const { sort } = query;
    const contracts = contractIds?.join() ?? null;
    const scope = { list: "bids", sort, ...filter, contractIds: contracts };
    const request = pageOf(query, scope, orderKey);
    if (isRejection(request)) return request;
    const { rows, total } = await readBidPage(db, filter, sort, request.read, now());
    const { shown, meta } = cutPage(request, rows, orderKeyOf(sort));
    return {
      data: shown.map((row) => presentBid(row, { siteUrl, prefix: market.prefix })),
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);

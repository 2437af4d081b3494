import { z } from "zod";
import { readBestBidsOf } from "../../../projections/bids/read-best.ts";
import { reject } from "../../../projections/domain/rejection.ts";
import { readCheapestListing } from "../../../projections/listings/read-cheapest.ts";
import { readToken } from "../../../projections/ownership/read.ts";
import { readSales } from "../../../projections/sales/read.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../parameters.ts";
import { presentToken, Token } from "../views/token.ts";
import { noCollection, referTo } from "./reference.ts";

export const token = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}",
    tag: "Collections",
    summary: "One token: an address selects its contract, a slug the live token of the family",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId }),
    data: Token,
    refuses: { not_found: 404, ...chainRefusals },
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return noCollection(query.chainId, params.collection);
    const { contractId, contractIds } = collection;
    const row = await readToken(
      db,
      contractId === null ? contractIds : [contractId],
      params.tokenId,
    );
    if (row === null) {
      const message = `No token ${params.tokenId} in ${params.collection} on chain ${query.chainId}`;
      return reject("not_found", message);
    }
    const [sales, listing, bids] = await Promise.all([
      readSales(
        db,
        { chainId: query.chainId, contractIds: [row.contractId], tokenId: row.tokenId },
        { limit: 1, offset: 0, after: null },
      ),
      readCheapestListing(db, row.contractId, row.tokenId, now()),
      readBestBidsOf(db, row.contractId, row.tokenId, 1, now()),
    ]);
    const trade = { lastSale: sales.rows[0] ?? null, listing, bestBid: bids[0] ?? null };
    const shop = { siteUrl, prefix: market.prefix };
    return { data: presentToken({ row, collection, trade, chainId: query.chainId, shop }) };
  },
);

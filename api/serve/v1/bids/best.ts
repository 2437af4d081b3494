import { z } from "zod";
import { readBestBidsOf } from "#projections/orders/read-bids.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { Bid, presentBid } from "#api/serve/views/orders/bid.ts";
import { chainIdValue, collectionRef, uint256Text } from "#api/serve/views/wire.ts";
import { noCollection, ownContracts, referTo } from "../collections/reference.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../routing/parameters.ts";

const BestBids = z
  .object({
    chainId: chainIdValue,
    collection: collectionRef,
    tokenId: uint256Text,
    best: Bid.nullable().meta({ description: "The one with the higher net for the seller." }),
    itemOffer: Bid.nullable(),
    collectionOffer: Bid.nullable(),
  })
  .meta({ id: "BestBids" });

export const bestBids = route(
  {
    method: "get",
    path: "/v1/bids/best",
    operationId: "getBestBids",
    tag: "Bids",
    loadClass: "book",
    summary:
      "The bids with the highest net for a token's holder; none for a token that is burned or was never minted",
    query: z.object({ chainId, collection: collectionKey, tokenId }),
    data: BestBids,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl, market: { prefix }, now }) => {
    const chain = query.chainId;
    const collection = await referTo(db, chain, query.collection);
    if (collection === null) return noCollection(chain, query.collection);
    const { tokenId } = query;
    const token = await readToken(db, ownContracts(collection), tokenId);
    // Nobody can sell a token that is burned or was never minted.
    const rows =
      token === null || token.isBurned
        ? []
        : await readBestBidsOf(db, { contractId: token.contractId, tokenId }, { limit: 1 }, now());
    const bids = rows.map((row) => presentBid(row, { siteUrl, prefix }));
    const { address, slug, name } = collection;
    return {
      data: {
        chainId: chain,
        collection: { address, slug, name },
        tokenId: String(query.tokenId),
        best: bids[0] ?? null,
        itemOffer: bids.find(({ kind }) => kind === "single-token") ?? null,
        collectionOffer: bids.find(({ kind }) => kind === "collection") ?? null,
      },
    };
  },
);

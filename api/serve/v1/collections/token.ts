import { z } from "zod";
import { reject } from "#projections/domain/rejection.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { readRankingIsOutdated } from "#projections/traits/read-outdated-rankings.ts";
import { allTokenParts, readTokenDetails } from "#projections/tokens/read-token-details.ts";
import { presentToken, Token } from "#api/serve/views/token.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../routing/parameters.ts";
import { noCollection, notCovered, ownContracts, referTo } from "./reference.ts";

export const token = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}",
    operationId: "getToken",
    tag: "Collections",
    summary:
      "One token. An address selects its contract; a slug the contract of the collection in which the token exists",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId }),
    data: Token,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, media, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return noCollection(query.chainId, params.collection);
    if (!collection.isCovered) return notCovered(query.chainId, collection);
    const row = await readToken(db, ownContracts(collection), params.tokenId);
    if (row === null) {
      const message = `No token ${params.tokenId} in ${params.collection} on chain ${query.chainId}`;
      return reject("not_found", message);
    }
    const { collectionId } = collection;
    const [[details], isVolatile] = await Promise.all([
      readTokenDetails(db, [row], { collectionId, parts: allTokenParts, now: now() }),
      readRankingIsOutdated(db, collectionId),
    ]);
    if (details === undefined) throw new Error("the details of an existing token are missing");
    const view = { siteUrl, prefix: market.prefix };
    const inline = { ...media, isList: false };
    const named = { collection, chainId: query.chainId, view, media: inline };
    return {
      data: presentToken(details, named),
      isVolatile,
    };
  },
);

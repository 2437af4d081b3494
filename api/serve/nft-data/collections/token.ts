import { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { allTokenParts, readTokenDetails } from "#projections/tokens/read-token-details.ts";
import { tokenId } from "#api/serve/v1/routing/parameters.ts";
import { route } from "../context.ts";
import { collectionAddress, readRefusals } from "../parameters.ts";
import { NftToken, presentNftToken } from "../views/objects.ts";
import { findByAddress } from "./find.ts";

export const token = route(
  {
    method: "get",
    path: "/api/collections/{address}/tokens/{tokenId}",
    operationId: "getToken",
    tag: "Tokens",
    summary: "One token of a contract",
    params: z.object({ address: collectionAddress, tokenId }),
    data: NftToken,
    refuses: { not_found: 404, ...readRefusals },
  },
  async ({ params }, context) => {
    const { db, chainId, siteUrl, media, prefix, now } = context;
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const { contractId, contractIds, collectionId } = collection;
    const places = contractId === null ? contractIds : [contractId];
    const row = await readToken(db, places, params.tokenId);
    const wanted = { collectionId, parts: allTokenParts, now: now() };
    const [details] = row === null ? [] : await readTokenDetails(db, [row], wanted);
    if (details === undefined) {
      return reject("not_found", `No token ${params.tokenId} in ${params.address}`);
    }
    const view = { siteUrl, prefix };
    const named = { collection, chainId, view, media: { ...media, isList: false } };
    return { data: presentNftToken(details, named) };
  },
);

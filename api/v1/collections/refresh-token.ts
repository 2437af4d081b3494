import { z } from "zod";
import { reject } from "#projections/domain/rejection.ts";
import { requestMetadata, requestMinutes } from "#projections/metadata/read-due-metadata.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { contractsOfReference, referTo, rejectUnknownCollection } from "../collection-reference.ts";
import { route } from "../context.ts";
import { chainId, collectionKey, tokenId } from "../parameters.ts";
import { address, chainIdValue, time, uint256Text } from "../wire.ts";

const MetadataRefresh = z
  .object({
    chainId: chainIdValue,
    contract: address,
    tokenId: uint256Text,
    requestedAt: time,
    nextAllowedAt: time.meta({ description: "From then on the token may be refreshed again." }),
  })
  .meta({ id: "MetadataRefresh" });

export const refreshToken = route(
  {
    method: "post",
    path: "/v1/collections/{collection}/tokens/{tokenId}/refresh",
    operationId: "refreshToken",
    tag: "Collections",
    summary:
      "Has a token's metadata fetched again. A change is seen in the token, and in the feed as `metadata`. Once in ten minutes for each token, whoever asks: earlier requests are refused with `Retry-After`",
    scope: "read",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId }),
    data: MetadataRefresh,
    successes: { 202: "To be fetched again" },
    refuses: {
      not_found: 404,
      refresh_too_soon: { status: 429, retry: "Wait for Retry-After; the token is being fetched" },
      bad_structure: 422,
      unsupported_chain: 422,
    },
  },
  async ({ params, query: { chainId } }, { market: { writer }, now }) => {
    const collection = await referTo(writer, chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(chainId, params.collection);
    const asked = contractsOfReference(collection);
    const token = await readToken(writer, asked, params.tokenId);
    if (token === null) {
      const message = `No token ${params.tokenId} in ${params.collection} on chain ${chainId}`;
      return reject("not_found", message);
    }
    const { isTaken, requestedAt } = await requestMetadata(writer, { chainId, ...token });
    const nextMs = requestedAt.getTime() + requestMinutes * 60_000;
    const nextAllowedAt = new Date(nextMs).toISOString();
    if (!isTaken) {
      const message = `Token ${params.tokenId} may be refreshed again at ${nextAllowedAt}`;
      const retryAfterSeconds = Math.max(1, Math.ceil((nextMs - now().getTime()) / 1_000));
      return { ...reject("refresh_too_soon", message), retryAfterSeconds };
    }
    const { contract, tokenId } = token;
    const of = { chainId, contract, tokenId: String(tokenId) };
    return { data: { ...of, requestedAt: requestedAt.toISOString(), nextAllowedAt } };
  },
);

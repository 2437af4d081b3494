import { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { allTokenParts, readTokenDetails } from "#projections/tokens/read-token-details.ts";
import { tokenSorts } from "#projections/tokens/read-token-filter.ts";
import { readTokens } from "#projections/tokens/read-tokens.ts";
import { readTraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { contractsOfReference } from "../v1/collection-reference.ts";
import { keyOfToken, tokenKeyOf } from "../v1/collections/tokens.ts";
import { flag, tokenId } from "../v1/parameters.ts";
import {
  accountRoute,
  attributeFilter,
  collectionAddress,
  cutList,
  findByAddress,
  listFields,
  listMeta,
  listPageOf,
  listRefusals,
  nftDataViewOf,
  readRefusals,
  walletAddress,
} from "./context.ts";
import { NftToken, presentNftToken } from "./objects.ts";

export const accountTokens = accountRoute(
  {
    method: "get",
    path: "/api/collections/{address}/tokens",
    operationId: "listTokens",
    tag: "Tokens",
    loadClass: "lists",
    summary: "Tokens of a contract; burned ones too",
    params: z.object({ address: collectionAddress }),
    query: z.object({
      attributes: attributeFilter.optional(),
      owner: walletAddress.optional().meta({
        description:
          "Only tokens of this wallet: ERC-721 tokens that it owns, and ERC-1155 ids of which it holds units.",
      }),
      listed: flag
        .optional()
        .meta({ description: "Only those with an active listing, or without." }),
      sort: z
        .enum(tokenSorts)
        .default("token_id")
        .meta({ description: "What has no price, listing or rank comes last, by token id." }),
      ...listFields,
    }),
    data: z.array(NftToken),
    meta: listMeta,
    refuses: { not_found: 404, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const { db, chainId, media, now } = context;
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const { collectionId } = collection;
    const contractIds = contractsOfReference(collection);
    const { sort, owner = null, listed = null } = query;
    const asked = query.attributes ?? [];
    const scope = {
      list: "account tokens",
      chainId,
      sort,
      owner,
      listed,
      contractIds: contractIds.join(),
      attributes: JSON.stringify(asked.toSorted()),
    };
    const request = listPageOf(query, scope, tokenKeyOf(sort));
    if (isRejection(request)) return request;
    const traitKeys = await readTraitKeys(db, contractIds, asked);
    const filter = { collectionId, contractIds, listed, tokenIds: null, owner, traitKeys };
    const { rows } = await readTokens(db, { filter, sort, slice: request.read, now: now() });
    const { shown, meta } = cutList(request, rows, ({ key }) => keyOfToken(key));
    const view = await nftDataViewOf(context);
    const named = { collection, chainId, view, media: { ...media, isList: true } };
    return { data: shown.map((token) => presentNftToken(token, named)), meta };
  },
);

export const accountToken = accountRoute(
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
    const { db, chainId, media, now } = context;
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const { collectionId } = collection;
    const row = await readToken(db, contractsOfReference(collection), params.tokenId);
    const wanted = { collectionId, parts: allTokenParts, now: now() };
    const [details] = row === null ? [] : await readTokenDetails(db, [row], wanted);
    if (details === undefined) {
      return reject("not_found", `No token ${params.tokenId} in ${params.address}`);
    }
    const view = await nftDataViewOf(context);
    const named = { collection, chainId, view, media: { ...media, isList: false } };
    return { data: presentNftToken(details, named) };
  },
);

import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { tokenSorts } from "#projections/tokens/read-token-filter.ts";
import { readTokens } from "#projections/tokens/read-tokens.ts";
import { readTraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { ownContracts } from "#api/serve/v1/collections/reference.ts";
import { keyOfToken, tokenKeyOf } from "#api/serve/v1/collections/tokens.ts";
import { flag } from "#api/serve/v1/routing/parameters.ts";
import { route } from "../context.ts";
import { cutList, listFields, listMeta, listPageOf, listRefusals } from "../list-page.ts";
import { address, attributes, collectionAddress } from "../parameters.ts";
import { NftToken, presentNftToken } from "../views/objects.ts";
import { findByAddress } from "./find.ts";

export const tokens = route(
  {
    method: "get",
    path: "/api/collections/{address}/tokens",
    operationId: "listTokens",
    tag: "Tokens",
    loadClass: "lists",
    summary: "Tokens of a collection, of all contracts of its family; burned ones too",
    params: z.object({ address: collectionAddress }),
    query: z.object({
      attributes: attributes.optional(),
      owner: address.optional().meta({
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
    const { db, chainId, siteUrl, media, prefix, now } = context;
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const { collectionId } = collection;
    const contractIds = ownContracts(collection);
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
    const view = { siteUrl, prefix };
    const named = { collection, chainId, view, media: { ...media, isList: true } };
    return { data: shown.map((token) => presentNftToken(token, named)), meta };
  },
);

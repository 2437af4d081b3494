import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { type TokenKey, tokenSorts } from "../../../../projections/reads/tokens/filter.ts";
import { readTokens } from "../../../../projections/reads/tokens/read-tokens.ts";
import {
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cutPage,
  pageFields,
  pageMeta,
} from "../../http/page.ts";
import { presentToken, Token } from "../../views/token.ts";
import { route } from "../routing/context.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  flag,
  uint256,
  wallet,
} from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";

const maxIds = 100;
const { per_page, cursor } = pageFields;

const tokenIds = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(uint256).max(maxIds))
  .transform((ids) => [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)))
  .meta({
    description: `Token ids, comma-separated, at most ${maxIds}.`,
    override: { type: "string", pattern: "^\\d+(,\\d+)*$" },
  });

export const tokens = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens",
    tag: "Collections",
    summary: "Tokens of all contracts of a collection, including burned ones",
    params: z.object({ collection: collectionKey }),
    query: z.object({
      chainId,
      sort: z.enum(tokenSorts).default("token_id").meta({
        description:
          "Tokens without a price, listing or rank come last, by token id. `recently_listed` sorts by the latest listing.",
      }),
      listed: flag.optional().meta({
        description: "Only tokens with an active listing (`true`) or without one (`false`).",
      }),
      token_ids: tokenIds.optional(),
      owner: wallet.optional().meta({
        description: "Only ERC-721 tokens of this wallet: an ERC-1155 token has no single owner.",
      }),
      cursor,
      per_page,
    }),
    data: z.array(Token),
    meta: pageMeta.omit({ page: true }).meta({ id: "CursorMeta" }),
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return noCollection(query.chainId, params.collection);
    const { collectionId, contractIds } = collection;
    const { chainId, sort, owner = null, listed = null, token_ids: ids = null } = query;
    const filter = { collectionId, contractIds, listed, tokenIds: ids, owner };
    const scope = {
      list: "tokens",
      ...{ chainId, sort, owner, listed },
      contractIds: contractIds.join(),
      tokenIds: ids?.join() ?? null,
    };
    const request = cursorPageOf(query, scope, tokenKey);
    if (isRejection(request)) return request;
    const page = await readTokens(db, filter, sort, request.read, now());
    const { total, rows, isRankingStale: isVolatile } = page;
    const { shown, meta } = cutPage(request, rows, ({ key }) => keyOfToken(key));
    const context = { collection, chainId, view: { siteUrl, prefix: market.prefix } };
    return {
      data: shown.map((token) => presentToken(token, context)),
      meta: {
        chainId,
        total: Number(total),
        per_page: meta.per_page,
        next_cursor: meta.next_cursor,
      },
      isVolatile,
    };
  },
);

/** Digits are those of the columns: numeric(78,0), integer, and a price. */
export const tokenKey = z
  .tuple([
    cursorInteger(1),
    cursorInteger(78),
    cursorInteger(78),
    cursorInteger(9),
    cursorInteger(4),
  ])
  .transform(
    ([part, value, tokenId, contractId, standard]): TokenKey => ({
      part: Number(part),
      value,
      tokenId,
      contractId: Number(contractId),
      standard: standard === 721n ? 721 : 1155,
    }),
  );

export function keyOfToken({ part, value, tokenId, contractId, standard }: TokenKey) {
  return [part, value, tokenId, contractId, standard];
}

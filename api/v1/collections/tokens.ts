import type { Address } from "viem";
import { z } from "zod";
import {
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cursorTime,
  cutPage,
  nameOfList,
  pageFields,
  pageMeta,
  pickFields,
  rowFields,
} from "#api/http/page.ts";
import { commaList } from "#api/http/query.ts";
import { rowCache, type Viewing, viewCached } from "#api/http/reads/cache.ts";
import { listingViewOf } from "#api/v1/orders/sides.ts";
import type { ChainId } from "#chains/index.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import {
  readTokenDetails,
  type TokenDetails,
  type TokenParts,
} from "#projections/tokens/read-token-details.ts";
import {
  type TokenKey,
  type TokenSort,
  tokenSorts,
} from "#projections/tokens/read-token-filter.ts";
import {
  type HashedToken,
  readHashedTokens,
  readTokens,
  type TokensQuery,
} from "#projections/tokens/read-tokens.ts";
import { readTraitKeys } from "#projections/traits/read-tokens-with-traits.ts";
import { contractsOfReference, referTo, rejectUnknownCollection } from "../collection-reference.ts";
import { route } from "../context.ts";
import {
  chainId,
  chainRefusals,
  collectionKey,
  flag,
  traitFilter,
  uint256,
  wallet,
} from "../parameters.ts";
import { presentToken, Token, tokenPartsOf } from "./token.ts";

const maxIds = 100;
const { per_page, cursor } = pageFields;

/** Of a uint256, with its comma. */
const maxDigits = 79;
const tokenIds = commaList(maxIds * maxDigits)
  .pipe(z.array(uint256).max(maxIds))
  .transform((ids) => [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)))
  .meta({
    description: `Token ids, comma-separated, at most ${maxIds}.`,
    override: {
      type: "string",
      pattern: "^(0|[1-9][0-9]{0,77})(,(0|[1-9][0-9]{0,77})){0,99}$",
    },
  });

export const cursorMeta = pageMeta.omit({ page: true }).meta({ id: "CursorMeta" });

export const tokens = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens",
    operationId: "listTokens",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Tokens of a collection, including burned ones: by its slug of all its contracts, by an address of that contract",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId", "sort", "fields", "cursor", "per_page"],
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
        description:
          "Only tokens of this wallet: ERC-721 tokens that it owns, and ERC-1155 ids of which it holds units.",
      }),
      contract: wallet.optional().meta({
        description: "Only tokens of this contract of the collection.",
      }),
      traits: traitFilter("traits").optional(),
      fields: rowFields(Token),
      cursor,
      per_page,
    }),
    data: z.array(Token),
    meta: cursorMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, media, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(query.chainId, params.collection);
    const { collectionId } = collection;
    const contractIds = await selectedContracts(db, collection, query);
    if (isRejection(contractIds)) return contractIds;
    const { chainId, sort, owner = null, listed = null, token_ids: ids = null, fields } = query;
    const traits = query.traits ?? [];
    const scope = {
      list: "tokens",
      chainId,
      sort,
      owner,
      listed,
      contractIds: contractIds.join(),
      tokenIds: ids?.join() ?? null,
      ...(traits.length > 0 && { traits: JSON.stringify(traits.toSorted()) }),
    };
    const request = cursorPageOf(query, scope, tokenKeyOf(sort));
    if (isRejection(request)) return request;
    const traitKeys = await readTraitKeys(db, contractIds, traits);
    const filter = { collectionId, contractIds, listed, tokenIds: ids, owner, traitKeys };
    const view = await listingViewOf({ siteUrl, market });
    const { address, slug, name } = collection;
    const context = { collection, chainId, view, media: { ...media, isList: true } };
    const parts = tokenPartsOf(fields);
    const asked = { filter, sort, slice: request.read, now: now(), parts };
    const page = await readTokenViews(db, asked, {
      list: nameOfList(request),
      variant: JSON.stringify([view, media, chainId, address, slug, name, fields && [...fields]]),
      present: (token) => pickFields(presentToken(token, context), fields),
    });
    const { total, rows, isRankingStale: isVolatile } = page;
    const { shown, meta } = cutPage(request, rows, ({ key }) => keyOfToken(key));
    return {
      data: await page.view(shown.length),
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

type Selection = { chainId: ChainId; contract?: Address | undefined };

/** A slug names the collection, all its contracts; an address its contract, or `contract` one. */
async function selectedContracts(
  db: Database,
  collection: CollectionRef,
  { chainId, contract }: Selection,
) {
  if (contract === undefined) return contractsOfReference(collection);
  const found = await referTo(db, chainId, contract);
  if (found?.contractId != null && collection.contractIds.includes(found.contractId))
    return [found.contractId];
  const message = `${contract} is no contract of the collection`;
  return reject("invalid_parameters", `contract: ${message}`, [{ field: "contract", message }]);
}

/** What a list is sorted by: a place in the ranking, a time, or a price. */
const sortValues: Partial<Record<TokenSort, z.ZodType<bigint, string>>> = {
  rarity: cursorInteger(9),
  recently_listed: cursorTime,
};

/** Digits are those of the columns: numeric(78,0), integer, and what is sorted by. */
export const tokenKeyOf = (sort: TokenSort) =>
  z
    .tuple([
      cursorInteger(1),
      sortValues[sort] ?? cursorInteger(78),
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

type Query = TokensQuery & { readonly parts: TokenParts };
type Row = { readonly key: TokenKey };
type Page<View> = {
  readonly total: bigint;
  readonly isRankingStale: boolean;
  readonly rows: readonly Row[];
  /** Of the first so many rows. */
  readonly view: (count: number) => Promise<View[]>;
};

/**
 * A page of tokens as they are shown. First pages are asked for again and again: from the second time on only the tokens
 * that have changed are read and made anew. Who walks through all tokens would not find them here, so other pages are
 * read at once.
 */
async function readTokenViews<View extends object>(
  db: Database,
  query: Query,
  viewing: Viewing<TokenDetails, View>,
): Promise<Page<View>> {
  const { variant, present } = viewing;
  const cache = query.slice.after === null ? rowCache(db, viewing) : undefined;
  if (cache === undefined) {
    const page = await readTokens(db, query);
    return { ...page, view: async (count) => page.rows.slice(0, count).map(present) };
  }
  const page = await readHashedTokens(db, query);
  const nameOf = ({ key, contentHash }: HashedToken) =>
    `token ${key.contractId} ${key.tokenId} ${key.standard} ${contentHash} ${variant}`;
  const { collectionId } = query.filter;
  const make = async (others: readonly Row[]) => {
    const tokens = others.map(({ key }) => key);
    return (await readTokenDetails(db, tokens, { ...query, collectionId })).map(present);
  };
  return {
    ...page,
    view: (count) => viewCached(cache, page.rows.slice(0, count), nameOf, make),
  };
}

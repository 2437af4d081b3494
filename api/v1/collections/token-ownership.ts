import type { Hex } from "viem";
import { z } from "zod";
import {
  cursorPageOf,
  cursorRefusals,
  cutPage,
  pageFields,
  uncountedMeta,
} from "#api/http/page.ts";
import type { ChainId } from "#chains/index.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { burnAddresses } from "#projections/domain/burn-address.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { NamedPoint, Point } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { readTokenHolders, type TokenHolder } from "#projections/tokens/read-holders.ts";
import { type PastToken, readPastToken } from "#projections/tokens/read-past-token.ts";
import { readToken, type TokenRow } from "#projections/tokens/read-token.ts";
import {
  contractsOfReference,
  referTo,
  rejectUncoveredCollection,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { MomentMeta } from "../moment.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../parameters.ts";
import {
  at,
  foldPast,
  metaAt,
  pointMeta,
  pointOf,
  pointParts,
  pointRefusals,
  pointScope,
} from "../point.ts";
import { address, uint256Text } from "../wire.ts";
import { ownerInKey } from "./holders.ts";
import { presentOwnership, rejectUnknownToken, TokenOwnership } from "./token.ts";

type TokenRequest = {
  params: { collection: string; tokenId: bigint };
  query: { chainId: ChainId; at?: NamedPoint | undefined };
};

type FoundToken = { collection: CollectionRef; point: Point | null; row: TokenRow | PastToken };

/** The token that a request is about, now or at its point. */
async function findToken({ params, query }: TokenRequest, db: Database) {
  const collection = await referTo(db, query.chainId, params.collection);
  if (collection === null) return rejectUnknownCollection(query.chainId, params.collection);
  if (!collection.isCovered) return rejectUncoveredCollection(query.chainId, collection);
  const point = await pointOf(db, query);
  if (isRejection(point)) return point;
  const contractIds = contractsOfReference(collection);
  const row =
    point === null
      ? await readToken(db, contractIds, params.tokenId)
      : await foldPast(() => readPastToken(db, contractIds, params.tokenId, point));
  if (row === null) return rejectUnknownToken(query.chainId, params);
  return isRejection(row) ? row : ({ collection, point, row } satisfies FoundToken);
}

const refuses = { not_found: 404, ...chainRefusals, ...pointRefusals } as const;

export const tokenOwnership = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}/ownership",
    operationId: "getTokenOwnership",
    tag: "Collections",
    summary: "Who owns a token and how much of it exists, now or at the end of any block",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId, at }),
    data: TokenOwnership,
    meta: MomentMeta,
    refuses,
    isCacheable: true,
  },
  async (request, { db, siteUrl }) => {
    const found = await findToken(request, db);
    if (isRejection(found)) return found;
    const { collection, point, row } = found;
    return {
      data: presentOwnership(row, { collection, chainId: request.query.chainId, siteUrl }),
      meta: metaAt(point),
      ...pointParts(point),
    };
  },
);

const TokenHolderView = z
  .object({ address, units: uint256Text.meta({ description: "1 of an ERC-721 token." }) })
  .meta({ id: "TokenHolder" });

const { per_page, cursor } = pageFields;

export const tokenHolders = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}/holders",
    operationId: "listTokenHolders",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Who holds units of a token, by address, now or at the end of any block; burn addresses left out",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId, at, cursor, per_page }),
    data: z.array(TokenHolderView),
    meta: uncountedMeta.extend({ at: pointMeta.optional() }).meta({ id: "TokenHoldersMeta" }),
    refuses: { ...refuses, ...cursorRefusals },
    isCacheable: true,
  },
  async (request, { db }) => {
    const found = await findToken(request, db);
    if (isRejection(found)) return found;
    const { chainId } = request.query;
    const { point, row } = found;
    const { contractId, tokenId } = row;
    const scope = { list: "token holders", chainId, contractId, tokenId, ...pointScope(point) };
    const page = cursorPageOf(request.query, scope, tokenHolderKey);
    if (isRejection(page)) return page;
    const { shown, meta } = cutPage(page, await readHeld(db, row, page.read), ({ owner }) => [
      BigInt(owner),
    ]);
    return {
      data: shown.map(({ owner, units }) => ({ address: owner, units: String(units) })),
      meta: {
        chainId,
        per_page: meta.per_page,
        next_cursor: meta.next_cursor,
        ...metaAt(point),
      },
      ...pointParts(point),
    };
  },
);

const tokenHolderKey = z.tuple([ownerInKey]).transform(([owner]) => owner);

type Slice = { limit: number; after: Hex | null };

async function readHeld(
  db: Database,
  row: TokenRow | PastToken,
  slice: Slice,
): Promise<TokenHolder[]> {
  const { limit, after } = slice;
  if ("heldBy" in row)
    return row.heldBy.filter(({ owner }) => after === null || owner > after).slice(0, limit);
  if (row.standard === 721) {
    const isHeld = row.owner !== null && !row.isBurned && after === null;
    return isHeld && row.owner !== null ? [{ owner: row.owner, units: 1n }] : [];
  }
  // Of both burn addresses one may hold units.
  const held = await readTokenHolders(db, [row.contractId], row.tokenId, {
    limit: limit + burnAddresses.size,
    after,
  });
  return held.filter(({ owner }) => !burnAddresses.has(owner as Hex)).slice(0, limit);
}

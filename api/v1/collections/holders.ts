import type { Hex } from "viem";
import { z } from "zod";
import {
  type CursorScope,
  cursorInteger,
  cursorPageOf,
  cursorRefusals,
  cutPage,
  pageFields,
} from "#api/http/page.ts";
import { timedCache } from "#api/http/reads/cache.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Point } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import {
  countHolders,
  type HolderCursor,
  type HolderRow,
  readHolderGroups,
  readHolders,
} from "#projections/tokens/read-holders.ts";
import { readPastHolders } from "#projections/tokens/read-past-holders.ts";
import {
  contractsOfReference,
  LinkedCollection,
  presentLinkedCollection,
  referTo,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, collectionKey } from "../parameters.ts";
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
import { cursorMeta } from "./tokens.ts";

/** Who holds tokens of a collection. */
export const Holder = z
  .object({
    address,
    tokens: z.int().min(1).meta({ description: "Token ids of which it holds something." }),
    units: uint256Text.meta({ description: "Units of these; of ERC-721 tokens, one each." }),
  })
  .meta({ id: "Holder" });

export function presentHolder({ owner, tokens, units }: HolderRow): z.output<typeof Holder> {
  return { address: owner, tokens: Number(tokens), units: String(units) };
}

const { per_page, cursor } = pageFields;
const holdersMeta = cursorMeta.extend({ at: pointMeta.optional() }).meta({ id: "HoldersMeta" });

export const holders = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/holders",
    operationId: "listHolders",
    tag: "Collections",
    loadClass: "lists",
    summary: "Who holds tokens of a collection, most token ids first; burn addresses left out",
    params: z.object({ collection: collectionKey }),
    query: z.object({ chainId, at, cursor, per_page }),
    data: z.array(Holder),
    meta: holdersMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db }) => {
    const { chainId } = query;
    const collection = await referTo(db, chainId, params.collection);
    if (collection === null) return rejectUnknownCollection(chainId, params.collection);
    const contractIds = contractsOfReference(collection);
    const point = await pointOf(db, query);
    if (isRejection(point)) return point;
    const scope = { ...holdersScope(chainId, contractIds), ...pointScope(point) };
    const request = cursorPageOf(query, scope, holderKey);
    if (isRejection(request)) return request;
    const held = await readHeld(db, contractIds, point, request.read);
    if (isRejection(held)) return held;
    const { shown, meta } = cutPage(request, held.rows, keyOfHolder);
    return {
      data: shown.map(presentHolder),
      meta: {
        chainId,
        total: Number(held.total),
        per_page: meta.per_page,
        next_cursor: meta.next_cursor,
        ...metaAt(point),
      },
      ...pointParts(point),
    };
  },
);

async function readHeld(
  db: Database,
  contractIds: readonly number[],
  point: Point | null,
  slice: { limit: number; after: HolderCursor | null },
) {
  if (point !== null) return await foldPast(() => readPastHolders(db, contractIds, point, slice));
  const [rows, total] = await Promise.all([
    readHolders(db, contractIds, slice),
    countHolders(db, contractIds),
  ]);
  return { rows, total };
}

export function holdersScope(chainId: number, contractIds: readonly number[]): CursorScope {
  return { list: "holders", chainId, contractIds: contractIds.join() };
}

/** In a cursor an address is a number of 20 bytes. */
export const ownerInKey = cursorInteger(49)
  .refine((owner) => owner >= 0n && owner < 2n ** 160n)
  .transform((owner): Hex => `0x${owner.toString(16).padStart(40, "0")}`);

/** One event (ERC-2309) gives an owner up to 2^256 ids of a contract, and a collection has several contracts. */
export const holderKey = z
  .tuple([cursorInteger(80), ownerInKey])
  .transform(([tokens, owner]): HolderCursor => ({ tokens, owner }));

export function keyOfHolder({ tokens, owner }: HolderRow) {
  return [tokens, BigInt(owner)];
}

/** First number of token ids of each group. */
const starts = [1, 2, 4, 11, 26, 51, 101];
const maxAgeSeconds = 60;

const holdersAndTokens = {
  holders: z.int().min(0),
  tokens: uint256Text.meta({ description: "Token ids that they hold." }),
};

export const HolderDistribution = z
  .object({
    collection: LinkedCollection,
    ...holdersAndTokens,
    groups: z
      .array(
        z.object({
          from: z.int().min(1),
          to: z.int().nullable().meta({ description: "null: any number from `from` on." }),
          ...holdersAndTokens,
        }),
      )
      .meta({
        description:
          "By token ids of the collection that an address holds; always the same groups.",
      }),
  })
  .meta({ id: "HolderDistribution" });

export const holderDistribution = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/holders/distribution",
    operationId: "getHolderDistribution",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "How many addresses hold how many tokens of a collection; burn addresses left out. At most a minute old, the caller's cache included",
    params: z.object({ collection: collectionKey }),
    query: z.object({ chainId }),
    data: HolderDistribution,
    refuses: { not_found: 404, ...chainRefusals },
    maxAgeSeconds,
  },
  async ({ params, query: { chainId } }, { db, siteUrl, now }) => {
    const found = await referTo(db, chainId, params.collection);
    if (found === null) return rejectUnknownCollection(chainId, params.collection);
    const contractIds = contractsOfReference(found);
    const request = { contractIds, now: now() };
    const { value, maxAgeSeconds } = await distributionOf(db, contractIds.join(), request);
    return {
      data: { collection: presentLinkedCollection(found, { siteUrl, chainId }), ...value },
      maxAgeSeconds,
    };
  },
);

type Request = Pick<CollectionRef, "contractIds"> & { now: Date };

/** Every holder of the collection is read. */
const distributionOf = timedCache({
  seconds: () => maxAgeSeconds,
  read: readDistribution,
  maxSize: 10_000,
});

async function readDistribution(db: Database, { contractIds }: Request) {
  const found = await readHolderGroups(db, contractIds, starts);
  const groups = starts.map((from, index) => {
    const { holders = 0n, tokens = 0n } = found.find((group) => group.from === from) ?? {};
    const next = starts[index + 1];
    const to = next === undefined ? null : next - 1;
    return { from, to, holders: Number(holders), tokens: String(tokens) };
  });
  return {
    holders: groups.reduce((sum, group) => sum + group.holders, 0),
    tokens: String(found.reduce((sum, group) => sum + group.tokens, 0n)),
    groups,
  };
}

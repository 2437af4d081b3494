import { z } from "zod";
import { chainById } from "#chains/index.ts";
import { readCollectionIds } from "#projections/collections/find-collection.ts";
import { readCollection, readCollectionKeys } from "#projections/collections/read-collections.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import { readHolders } from "#projections/tokens/read-holders.ts";
import { contractsOfReference, rejectUnknownCollection } from "../v1/collection-reference.ts";
import { keyOfRanked, rankingKey, viewRanked } from "../v1/collections/collections.ts";
import {
  Holder,
  holderKey,
  holdersScope,
  keyOfHolder,
  presentHolder,
} from "../v1/collections/holders.ts";
import { presentTraits, traitsFields, traitsPage } from "../v1/collections/traits.ts";
import { excludeWash, text } from "../v1/parameters.ts";
import { address } from "../v1/wire.ts";
import {
  accountRoute,
  addresses,
  collectionAddress,
  cutList,
  findByAddress,
  listFields,
  listMeta,
  listPageOf,
  listRefusals,
  type NftDataRoute,
  nextMeta,
  nftDataViewOf,
  readRefusals,
} from "./context.ts";
import { NftAttributes, NftCollection, presentNftCollection, snake } from "./objects.ts";

export const listAccountCollections = accountRoute(
  {
    method: "get",
    path: "/api/collections",
    operationId: "listCollections",
    tag: "Collections",
    loadClass: "lists",
    summary: "Collections by their figures",
    query: z.object({
      search: text(100)
        .optional()
        .meta({ description: "Part of a name, slug or address, in any case." }),
      sort: z
        .enum(["volume", "floor", "sales", "listed", "supply", "holders", "change"])
        .default("volume"),
      direction: z.enum(["asc", "desc"]).default("desc"),
      period: z
        .enum(["24h", "7d", "30d"])
        .default("24h")
        .meta({ description: "Of volume, sales and change, where they are sorted by." }),
      exclude_wash: excludeWash,
      ...listFields,
    }),
    data: z.array(NftCollection),
    meta: listMeta,
    refuses: listRefusals,
  },
  async ({ query }, context) => {
    const { db, chainId } = context;
    const { sort, direction, period } = query;
    const order = { sort, direction, period, excludesWash: query.exclude_wash };
    const filter = { chainId, search: query.search || null, verified: null };
    const scope = { list: "account collections", ...order, ...filter };
    const request = listPageOf(query, scope, rankingKey);
    if (isRejection(request)) return request;
    const view = await nftDataViewOf(context);
    const { keys } = await readCollectionKeys(db, filter, order, request.read);
    const { shown, meta } = cutList(request, keys, keyOfRanked);
    const data = await viewRanked(db, shown, {
      chainId,
      now: context.now(),
      variant: `account API ${view.isBuyingPaused}`,
      present: (row, coinPriceE8) => presentNftCollection(row, view, { coinPriceE8, isList: true }),
    });
    return { data, meta };
  },
);

/** The same at the path that the interface's document names in one place. */
export const listCollectionsAlias: NftDataRoute = {
  ...listAccountCollections,
  path: "/collections",
  operationId: "listCollectionsAlias",
};

export const accountCollection = accountRoute(
  {
    method: "get",
    path: "/api/collections/{address}",
    operationId: "getCollection",
    tag: "Collections",
    summary: "One collection with its figures",
    params: z.object({ address: collectionAddress }),
    data: NftCollection,
    refuses: { not_found: 404, ...readRefusals },
  },
  async ({ params }, context) => {
    const { db, chainId } = context;
    const found = await findByAddress(context, params.address);
    if (isRejection(found)) return found;
    const view = await nftDataViewOf(context);
    const at = context.now();
    const [row, coinPriceE8] = await Promise.all([
      readCollection(db, found.collectionId, at),
      readPriceAt(db, chainById(chainId).coin, at),
    ]);
    if (row === null) return rejectUnknownCollection(chainId, params.address);
    return { data: presentNftCollection(row, view, { coinPriceE8, isList: false }) };
  },
);

export const batchCollections = accountRoute(
  {
    method: "post",
    path: "/api/batch/collections",
    operationId: "getCollections",
    tag: "Batches",
    loadClass: "lists",
    reads: "snapshot",
    summary: "Up to 10 collections at once, in the order asked",
    body: z.strictObject({ addresses }),
    data: z.array(
      z.object({
        address,
        collection: NftCollection.nullable().meta({ description: "null: no collection has it." }),
      }),
    ),
    refuses: { bad_structure: 422 },
  },
  async ({ body }, context) => {
    const { db, chainId } = context;
    const view = await nftDataViewOf(context);
    const at = context.now();
    const ids = await readCollectionIds(db, chainId, body.addresses);
    const distinct = [...new Set(ids.values())];
    const [coinPriceE8, ...rows] = await Promise.all([
      readPriceAt(db, chainById(chainId).coin, at),
      ...distinct.map((id) => readCollection(db, id, at)),
    ]);
    const shown = new Map(
      rows.map((row, place) => [
        distinct[place],
        row && presentNftCollection(row, view, { coinPriceE8, isList: true }),
      ]),
    );
    return {
      data: body.addresses.map((one) => ({
        address: one,
        collection: shown.get(ids.get(one)) ?? null,
      })),
    };
  },
);

export const collectionAttributes = accountRoute(
  {
    method: "get",
    path: "/api/collections/{address}/attributes",
    operationId: "listAttributes",
    tag: "Collections",
    loadClass: "lists",
    summary: "Attributes of a contract's tokens: how many have each value, and what those cost",
    params: z.object({ address: collectionAddress }),
    query: z.object(traitsFields),
    data: NftAttributes,
    meta: listMeta,
    refuses: { not_found: 404, ...readRefusals, invalid_cursor: 422 },
  },
  async ({ params, query }, context) => {
    const { db, chainId, siteUrl, prefix, now } = context;
    const found = await findByAddress(context, params.address);
    if (isRejection(found)) return found;
    const contractIds = contractsOfReference(found);
    const asked = { chainId, contractIds, prefix, now: now() };
    const page = await traitsPage(db, asked, query);
    if (page === null)
      return reject("not_found", `No attribute ${query.type} in ${params.address}`);
    if (isRejection(page)) return page;
    const meta = nextMeta(page.meta.next_cursor);
    return { data: snake(presentTraits(found, { siteUrl, chainId }, page.types)), meta };
  },
);

export const collectionHolders = accountRoute(
  {
    method: "get",
    path: "/api/collections/{address}/holders",
    operationId: "listHolders",
    tag: "Collections",
    loadClass: "lists",
    summary: "Who holds tokens of a contract, most token ids first; burn addresses left out",
    params: z.object({ address: collectionAddress }),
    query: z.object(listFields),
    data: z.array(Holder),
    meta: listMeta,
    refuses: { not_found: 404, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const contractIds = contractsOfReference(collection);
    const scope = holdersScope(context.chainId, contractIds);
    const request = listPageOf(query, scope, holderKey);
    if (isRejection(request)) return request;
    const rows = await readHolders(context.db, contractIds, request.read);
    const { shown, meta } = cutList(request, rows, keyOfHolder);
    return { data: shown.map(presentHolder), meta };
  },
);

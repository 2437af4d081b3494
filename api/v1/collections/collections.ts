import { z } from "zod";
import { writeOnce } from "#api/http/answer.ts";
import {
  cursorInteger,
  cutPage,
  type PartFields,
  pageFields,
  pageMeta,
  pageOf,
  pageRefusals,
  partsOf,
  pickFields,
  type RowFields,
  rowFields,
} from "#api/http/page.ts";
import { versionCache } from "#api/http/reads/cache.ts";
import { listingViewOf } from "#api/v1/orders/sides.ts";
import { type ChainId, chainById } from "#chains/index.ts";
import type { CollectionRef } from "#projections/collections/find-collection.ts";
import type {
  CollectionPart,
  CollectionParts,
  CollectionRow,
} from "#projections/collections/read-collection-row.ts";
import {
  type CollectionKey,
  readCollection,
  readCollectionKeys,
  readCollections,
} from "#projections/collections/read-collections.ts";
import { parseLink } from "#projections/domain/metadata/media.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import type { Moment } from "#projections/past/moment.ts";
import { readPastFigures } from "#projections/past/read-past-figures.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import {
  referTo,
  rejectUncoveredCollection,
  rejectUnknownCollection,
} from "../collection-reference.ts";
import { route } from "../context.ts";
import {
  collectionPath,
  type MediaView,
  mediaUri,
  mediaUrl,
  presentMedia,
} from "../media-links.ts";
import { atOfOrders, MomentMeta, momentMeta, momentOfFigures, momentView } from "../moment.ts";
import { chainId, chainRefusals, collectionKey, excludeWash, flag, text } from "../parameters.ts";
import { foldPast, pointParts, pointRefusals } from "../point.ts";
import { collectionUrls, presentCollectionUrls } from "../urls.ts";
import { address, chainIdValue, nameStandard, standardName, time } from "../wire.ts";
import {
  type CollectionViewContext,
  presentStats,
  type ShownPeriod,
  stats,
} from "./collection-stats.ts";
import { MetadataState, presentMetadataState } from "./metadata-state.ts";

/** One contract, or several contracts with combined statistics. */
export const Collection = z
  .object({
    chainId: chainIdValue,
    address,
    slug: z.string().nullable(),
    name: z.string().nullable(),
    symbol: z.string().nullable(),
    description: z.string().nullable(),
    standard: standardName.nullable(),
    contracts: z.array(z.object({ address, standard: standardName.nullable() })),
    media: z.object({
      image: mediaUri,
      imageUrl: mediaUrl,
      banner: mediaUri,
      bannerUrl: mediaUrl,
    }),
    links: z.object({
      website: z.url().nullable(),
      twitter: z.url().nullable(),
      discord: z.url().nullable(),
    }),
    metadata: MetadataState.meta({
      description: "Of the contract's document (`contractURI`), which most contracts do not have.",
    }),
    verified: z.boolean(),
    royalty: z.object({
      recipient: address.nullable(),
      bps: z.int().min(0),
      source: z
        .enum(["partner", "erc2981", "configured", "none"])
        .meta({ description: "`none`: no royalty is known; `bps` is 0." }),
    }),
    stats,
    urls: collectionUrls,
    createdAt: time.nullable(),
    updatedAt: time.nullable(),
  })
  .meta({ id: "Collection" });

/** What has to be read for the fields. */
function collectionPartsOf(fields: RowFields): CollectionParts {
  return partsOf(fields, fieldsOfParts);
}
const fieldsOfParts: PartFields<CollectionPart, keyof typeof Collection.shape> = [
  ["metadata", ["description", "media", "links", "metadata"]],
  ["royalty", ["royalty"]],
  ["contracts", ["contracts"]],
  ["orders", ["stats"]],
];

/** `periods`: the windows whose volume and sales are shown. */
export function presentCollection(
  row: CollectionRow,
  periods: readonly ShownPeriod[],
  view: CollectionViewContext,
): z.output<typeof Collection> {
  const chainId = row.chainId as ChainId;
  return {
    chainId,
    address: row.address,
    slug: row.slug,
    name: row.name,
    symbol: row.symbol,
    description: row.description,
    standard: row.standard && nameStandard(row.standard),
    contracts: row.contracts.map(({ address, standard }) => ({
      address,
      standard: standard && nameStandard(standard),
    })),
    media: presentImages(row, chainId, view.media),
    // Checked again: the log keeps what an earlier version accepted.
    links: {
      website: parseLink(row.website),
      twitter: parseLink(row.twitter),
      discord: parseLink(row.discord),
    },
    metadata: presentMetadataState({
      status: row.metadataStatus,
      at: row.metadataAt,
      issue: row.metadataIssue,
    }),
    verified: row.verified,
    royalty: row.royalty ?? { recipient: null, bps: 0, source: "none" },
    stats: presentStats(row, periods, view),
    urls: presentCollectionUrls({ siteUrl: view.siteUrl, chainId }, row.slug ?? row.address),
    createdAt: row.createdAt?.toISOString() ?? null,
    updatedAt: row.updatedAt?.toISOString() ?? null,
  };
}

function presentImages(row: CollectionRow, chainId: ChainId, view: MediaView) {
  const at = (part: string) => collectionPath(chainId, row.address, part);
  const image = presentMedia(row.image, at("image"), view);
  const banner = presentMedia(row.banner, at("banner"), view);
  return { image: image.uri, imageUrl: image.url, banner: banner.uri, bannerUrl: banner.url };
}

export const listCollections = route(
  {
    method: "get",
    path: "/v1/collections",
    operationId: "listCollections",
    tag: "Collections",
    loadClass: "lists",
    plansOnceWith: [
      ...["chainId", "period", "sort", "direction", "exclude_wash", "fields"],
      ...Object.keys(pageFields),
    ],
    summary: "Collections, sorted by a statistic",
    query: z.object({
      chainId,
      period: z
        .enum(["24h", "7d", "30d"])
        .default("24h")
        .meta({ description: "Period of volume, sales and change." }),
      sort: z
        .enum(["volume", "floor", "sales", "listed", "supply", "holders", "change"])
        .default("volume"),
      direction: z.enum(["asc", "desc"]).default("desc"),
      search: text(100)
        .optional()
        .meta({ description: "Part of a name, slug or address, case-insensitive." }),
      verified: flag.optional(),
      exclude_wash: excludeWash,
      fields: rowFields(Collection),
      ...pageFields,
    }),
    data: z.array(Collection),
    meta: pageMeta,
    refuses: { ...chainRefusals, ...pageRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl, media, market, now }) => {
    const { sort, direction, period, fields } = query;
    const order = { sort, direction, period, excludesWash: query.exclude_wash };
    const filter = {
      chainId: query.chainId,
      search: query.search || null,
      verified: query.verified ?? null,
    };
    const scope = { list: "collections", ...order, ...filter };
    const request = pageOf(query, scope, rankingKey);
    if (isRejection(request)) return request;
    const { keys, total } = await readCollectionKeys(db, filter, order, request.read);
    const { shown, meta } = cutPage(request, keys, keyOfRanked);
    const links = { ...media, isList: true };
    const view = await listingViewOf({ siteUrl, market });
    const parts = collectionPartsOf(fields);
    const views = await viewRanked(db, shown, {
      chainId: query.chainId,
      now: now(),
      parts,
      variant: JSON.stringify(["v1", period, view, media, fields && [...fields]]),
      present: (row, coinPriceE8) =>
        pickFields(
          presentCollection(row, [period], { ...view, coinPriceE8, media: links }),
          fields,
        ),
    });
    return {
      data: views,
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);

export const collection = route(
  {
    method: "get",
    path: "/v1/collections/{collection}",
    operationId: "getCollection",
    tag: "Collections",
    summary: "One collection with its statistics",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId"],
    query: z.object({
      chainId,
      at: atOfOrders("`stats` as they were then, without `change`; the rest is today's."),
    }),
    data: Collection,
    meta: MomentMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pointRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, media, market, now }) => {
    const found = await referTo(db, query.chainId, params.collection);
    if (found === null) return rejectUnknownCollection(query.chainId, params.collection);
    const moment = await momentOfFigures(db, query, now());
    if (isRejection(moment)) return moment;
    const [row, coinPriceE8] = await Promise.all([
      readCollection(db, found.collectionId, now()),
      readPriceAt(db, chainById(query.chainId).coin, moment?.clock ?? now()),
    ]);
    if (row === null) return rejectUncoveredCollection(query.chainId, found);
    const then = await figuresThen(db, found, moment);
    if (isRejection(then)) return then;
    const links = { ...media, isList: false };
    const view = {
      ...{ ...(await listingViewOf({ siteUrl, market })), ...momentView(moment) },
      ...{ coinPriceE8, media: links },
    };
    return {
      data: presentCollection({ ...row, ...then }, ["24h", "7d", "30d", "all"], view),
      meta: momentMeta(moment),
      ...pointParts(moment?.point ?? null),
    };
  },
);

/** What of a collection's row was another at a moment. */
const figuresThen = async (db: Database, { contractIds }: CollectionRef, moment: Moment | null) =>
  moment === null ? {} : await foldPast(() => readPastFigures(db, contractIds, moment));

/** Digits: a sum of wei is unbounded; an id is an integer column. */
export const rankingKey = z
  .tuple([cursorInteger(100), cursorInteger(9)])
  .transform(([sortKey, id]): CollectionKey => ({ sortKey, collectionId: Number(id) }));

export const keyOfRanked = ({ sortKey, collectionId }: CollectionKey) => [sortKey, collectionId];

type Viewing<View> = {
  readonly chainId: ChainId;
  readonly now: Date;
  readonly parts?: CollectionParts;
  /** What `present` depends on in addition to the row and the coin's price. */
  readonly variant: string;
  readonly present: (row: CollectionRow, coinPriceE8: bigint | null) => View;
};

/** A view holds for all requests to the same data until an order of its collection ends or begins. */
type Kept<View> = { readonly view: View; readonly untilSecond: bigint | null };

/** Views of collections in the order of the keys. Those that were made of the same data before are not made again. */
export async function viewRanked<View extends object>(
  db: Database,
  keys: readonly Pick<CollectionKey, "collectionId">[],
  { chainId, now, parts, variant, present }: Viewing<View>,
): Promise<View[]> {
  const known = versionCache(db);
  const coinPriceE8 = await readPriceOnce(db, chainId, now);
  const nameOf = (collectionId: number) =>
    `view of collection ${collectionId} ${coinPriceE8} ${variant}`;
  const views = new Map<number, View>();
  for (const { collectionId } of keys) {
    const kept = known.get<Kept<View>>(nameOf(collectionId));
    if (kept !== undefined && isCurrent(kept, now)) views.set(collectionId, kept.view);
  }
  const others = keys.map(({ collectionId }) => collectionId).filter((id) => !views.has(id));
  const rows = others.length === 0 ? [] : await readCollections(db, others, now, parts);
  for (const row of rows) {
    const made = { view: present(row, coinPriceE8), untilSecond: row.nextChangeAt };
    views.set(row.collectionId, made.view);
    if (!isCurrent(made, now)) continue;
    writeOnce(made.view);
    known.set(nameOf(row.collectionId), made);
  }
  return keys.flatMap(({ collectionId }) => views.get(collectionId) ?? []);
}

function isCurrent({ untilSecond }: Kept<unknown>, now: Date): boolean {
  return untilSecond === null || now.getTime() < Number(untilSecond) * 1_000;
}

async function readPriceOnce(db: Database, chainId: ChainId, at: Date): Promise<bigint | null> {
  const known = versionCache(db);
  const name = `price ${chainById(chainId).coin} ${at.getTime()}`;
  const found = known.get<{ priceE8: bigint | null }>(name);
  if (found !== undefined) return found.priceE8;
  const priceE8 = await readPriceAt(db, chainById(chainId).coin, at);
  known.set(name, { priceE8 });
  return priceE8;
}

import { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { parseLink } from "#projections/domain/metadata/media.ts";
import type { CollectionPart, CollectionParts, CollectionRow } from "#projections/collections/read-collection-row.ts";
import { type PartFields, partsOf, type RowFields } from "#api/http/page.ts";
import { type CollectionViewContext, presentStats, type ShownPeriod, stats } from "./collection-stats.ts";
import { collectionPath, type MediaView, mediaUri, mediaUrl, presentMedia } from "./media.ts";
import { collectionUrls, presentCollectionUrls } from "./urls.ts";
import { address, chainIdValue, nameStandard, standardName, time } from "./wire.ts";

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
export function collectionPartsOf(fields: RowFields): CollectionParts {
  return partsOf(fields, fieldsOfParts);
}
const fieldsOfParts: PartFields<CollectionPart, keyof typeof Collection.shape> = [
  ["metadata", ["description", "media", "links"]],
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

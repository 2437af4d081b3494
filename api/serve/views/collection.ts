import { zeroAddress } from "viem";
import { z } from "zod";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Period } from "../../../projections/collection-stats/periods.ts";
import { parseLink } from "../../../projections/domain/metadata/media.ts";
import type {
  BestOffer,
  CollectionRow,
  FloorListing,
} from "../../../projections/reads/collections/collection-row.ts";
import { listingId, orderId } from "../../background/orders/market/order-id.ts";
import { displayPrice } from "../../background/prices/parse-price.ts";
import { collectionPath, type MediaView, mediaUri, mediaUrl, presentMedia } from "./media.ts";
import { displayAmount, presentCurrency } from "./money.ts";
import { collectionUrls, presentCollectionUrls } from "./urls.ts";
import {
  address,
  chainIdValue,
  exactUnits,
  nameStandard,
  standardName,
  time,
  uint256Text,
} from "./wire.ts";

/** A value per period; the list contains only the requested period. */
const byPeriod = <Value extends z.ZodType>(value: Value) =>
  z.object({
    "24h": value.optional(),
    "7d": value.optional(),
    "30d": value.optional(),
    all: value.optional(),
  });

const floor = z
  .object({
    price: z.number(),
    priceWei: uint256Text,
    currency: z.string().meta({
      description:
        "The listing's own: the wrapped currency counts as the native one for the order.",
    }),
    usd: z.number().nullable(),
    askId: z.string(),
    tokenId: uint256Text,
    marketplace: z.string(),
    buyableViaApi: z.boolean(),
  })
  .meta({ id: "Floor" });

const stats = z.object({
  floor: floor.nullable(),
  floorBuyable: floor.nullable(),
  bestOffer: z
    .object({
      price: z.number(),
      priceWei: uint256Text,
      sellerNetWei: uint256Text,
      bidId: z.string(),
    })
    .nullable(),
  listed: z.int().min(0).meta({ description: "Tokens with an active listing." }),
  supply: z.int().min(0).meta({ description: "Tokens not burned; units for ERC-1155." }),
  supplyExact: exactUnits,
  holders: z.int().min(0),
  volume: byPeriod(z.number()),
  volumeWei: byPeriod(uint256Text),
  volumeUsd: byPeriod(z.number().nullable()),
  sales: byPeriod(z.int().min(0)),
  washVolume: byPeriod(z.number()).meta({
    description: "The part of `volume` that is of sales with `washTrade`.",
  }),
  washVolumeWei: byPeriod(uint256Text),
  washSales: byPeriod(z.int().min(0)),
  change: z
    .object({
      "24h": z.number().nullable(),
      "7d": z.number().nullable(),
      "30d": z.number().nullable(),
    })
    .meta({ description: "Of the floor, as a fraction." }),
});

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
    royalty: z
      .object({
        recipient: address.nullable(),
        bps: z.int().min(0),
        source: z.enum(["partner", "erc2981", "configured", "none"]),
      })
      .nullable(),
    stats,
    urls: collectionUrls,
    createdAt: time.nullable(),
    updatedAt: time.nullable(),
  })
  .meta({ id: "Collection" });

/** What views of collections need in addition to the row. */
type CollectionViewContext = {
  siteUrl: string;
  prefix: string;
  /** Price of the chain's coin, in 10⁻⁸ USD; null: unknown. */
  coinPriceE8: bigint | null;
  media: MediaView;
};

type ShownPeriod = Period | "all";

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

function presentStats(
  row: CollectionRow,
  periods: readonly ShownPeriod[],
  view: CollectionViewContext,
): z.output<typeof stats> {
  const each = <Value>(value: (traded: CollectionRow["salesFigures"]["all"]) => Value) =>
    Object.fromEntries(periods.map((period) => [period, value(row.salesFigures[period])]));
  return {
    floor: row.floor && presentFloor(row.floor, row.chainId as ChainId, view),
    floorBuyable: row.floorBuyable && presentFloor(row.floorBuyable, row.chainId as ChainId, view),
    bestOffer: row.bestOffer && presentOffer(row.bestOffer, view),
    listed: Number(row.listed),
    supply: Number(row.supply),
    supplyExact: String(row.supply),
    holders: Number(row.holders),
    volume: each(({ wei }) => displayAmount(wei)),
    volumeWei: each(({ wei }) => String(wei)),
    volumeUsd: each(({ usdE8 }) => (usdE8 === null ? null : displayPrice(usdE8))),
    sales: each(({ sales }) => Number(sales)),
    washVolume: each(({ washWei }) => displayAmount(washWei)),
    washVolumeWei: each(({ washWei }) => String(washWei)),
    washSales: each(({ washSales }) => Number(washSales)),
    change: {
      "24h": presentChange(row.change["24h"]),
      "7d": presentChange(row.change["7d"]),
      "30d": presentChange(row.change["30d"]),
    },
  };
}

function presentFloor(
  { priceWei, orderHash, tokenId, marketplace, isBuyable, currency }: FloorListing,
  chainId: ChainId,
  { prefix, coinPriceE8 }: CollectionViewContext,
): z.output<typeof floor> {
  const wei = BigInt(priceWei);
  return {
    price: displayAmount(wei),
    priceWei,
    currency: presentCurrency(chainId, currency ?? zeroAddress).symbol ?? "",
    usd: coinPriceE8 === null ? null : displayPrice((wei * coinPriceE8) / 10n ** 18n),
    askId: listingId(prefix, { marketplace, orderHash }),
    tokenId,
    marketplace,
    buyableViaApi: isBuyable,
  };
}

function presentOffer(
  { priceWei, sellerNetWei, orderHash }: BestOffer,
  { prefix }: CollectionViewContext,
) {
  const bidId = orderId(prefix, orderHash);
  return { price: displayAmount(BigInt(priceWei)), priceWei, sellerNetWei, bidId };
}

function presentChange(millionths: bigint | null): number | null {
  return millionths === null ? null : Number(millionths) / 1_000_000;
}

import { zeroAddress } from "viem";
import { z } from "zod";
import { listingId, orderId } from "#api/orders/order-id.ts";
import { isBuyableHere, type ListingViewContext } from "#api/v1/orders/sides.ts";
import type { ChainId } from "#chains/index.ts";
import { displayPrice } from "#jobs/prices/price.ts";
import type {
  BestOffer,
  CollectionRow,
  FloorListing,
} from "#projections/collections/read-collection-row.ts";
import type { Period } from "#projections/collections/read-figures.ts";
import type { MediaView } from "../media-links.ts";
import { address, displayAmount, exactUnits, presentCurrency, uint256Text } from "../wire.ts";

/** A value per period; the list contains only the requested period. */
const byPeriod = <Value extends z.ZodType>(value: Value) =>
  z.object({
    "24h": value.optional(),
    "7d": value.optional(),
    "30d": value.optional(),
    all: value.optional(),
  });

export const floor = z
  .object({
    price: z.number(),
    priceWei: uint256Text,
    currency: z.string().meta({
      description:
        "The listing's own: the wrapped currency counts as the native one for the order.",
    }),
    usd: z.number().nullable(),
    askId: z.string(),
    contract: address,
    tokenId: uint256Text,
    marketplace: z.string(),
    buyableViaApi: z.boolean(),
  })
  .meta({ id: "Floor" });

export const stats = z.object({
  floor: floor.nullable(),
  floorBuyable: floor.nullable(),
  bestOffer: z
    .object({
      price: z.number(),
      priceWei: uint256Text,
      sellerNetWei: uint256Text,
      bidId: z.string(),
    })
    .nullable()
    .meta({
      description:
        "The active bid on the collection with the highest net; null while nobody holds a token of it.",
    }),
  listed: z.int().min(0).meta({ description: "Tokens with an active listing." }),
  supply: z.int().min(0).meta({ description: "Tokens not burned; units for ERC-1155." }),
  supplyExact: exactUnits,
  holders: z.int().min(0),
  volume: byPeriod(z.number()),
  volumeWei: byPeriod(uint256Text),
  volumeUsd: byPeriod(z.number().nullable()).meta({
    description:
      "Of `volume`; null where a sale has no price in USD, as one in another currency than the chain's.",
  }),
  volumeUsdShare: byPeriod(z.number().min(0).max(1)).meta({
    description: "The part of `volumeWei` whose sales have a price in USD, 0 to 1.",
  }),
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

/** What views of collections need in addition to the row. */
export type CollectionViewContext = ListingViewContext & {
  /** Price of the chain's coin, in 10⁻⁸ USD; null: unknown. */
  coinPriceE8: bigint | null;
  media: MediaView;
};

export type ShownPeriod = Period | "all";

export function presentStats(
  row: CollectionRow,
  periods: readonly ShownPeriod[],
  view: CollectionViewContext,
): z.output<typeof stats> {
  const each = <Value>(value: (traded: CollectionRow["salesFigures"]["all"]) => Value) =>
    Object.fromEntries(periods.map((period) => [period, value(row.salesFigures[period])]));
  return {
    floor: row.floor && presentFloor(row.floor, row.chainId as ChainId, view),
    // Nothing is buyable while buying is paused.
    floorBuyable: view.isBuyingPaused
      ? null
      : row.floorBuyable && presentFloor(row.floorBuyable, row.chainId as ChainId, view),
    bestOffer: row.bestOffer && presentOffer(row.bestOffer, view),
    listed: Number(row.listed),
    supply: Number(row.supply),
    supplyExact: String(row.supply),
    holders: Number(row.holders),
    volume: each(({ wei }) => displayAmount(wei)),
    volumeWei: each(({ wei }) => String(wei)),
    volumeUsd: each(({ usdE8 }) => (usdE8 === null ? null : displayPrice(usdE8))),
    volumeUsdShare: each(pricedShare),
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

/** Rounded down, so that 1 means all of it. */
function pricedShare({ wei, pricedWei }: CollectionRow["salesFigures"]["all"]): number {
  return wei === 0n ? 1 : Number((pricedWei * 1_000_000n) / wei) / 1_000_000;
}

export function presentFloor(
  floorListing: FloorListing,
  chainId: ChainId,
  view: Omit<CollectionViewContext, "media">,
): z.output<typeof floor> {
  const { priceWei, orderHash, contract, tokenId, marketplace, currency } = floorListing;
  const { prefix, coinPriceE8 } = view;
  const wei = BigInt(priceWei);
  return {
    price: displayAmount(wei),
    priceWei,
    currency: presentCurrency(chainId, currency ?? zeroAddress).symbol ?? "",
    usd: coinPriceE8 === null ? null : displayPrice((wei * coinPriceE8) / 10n ** 18n),
    askId: listingId(prefix, { marketplace, orderHash }),
    contract,
    tokenId,
    marketplace,
    buyableViaApi: isBuyableHere(floorListing, view),
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

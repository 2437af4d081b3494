import { z } from "zod";
import type { ChainId } from "../../../abis/deployments.ts";
import type { CollectionRow, Period } from "../../../projections/collections/read.ts";
import { displayAmount } from "./money.ts";
import { collectionUrls, presentCollectionUrls } from "./urls.ts";
import { address, chainIdValue, nameStandard, standardName, time, uint256Text } from "./wire.ts";

/** A figure per period; the list holds only the period asked for. */
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
    currency: z.string(),
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
  listed: z.int().min(0),
  supply: z.int().min(0).meta({ description: "Tokens not burned; units for ERC-1155." }),
  holders: z.int().min(0),
  volume: byPeriod(z.number()),
  volumeWei: byPeriod(uint256Text),
  volumeUsd: byPeriod(z.number().nullable()),
  sales: byPeriod(z.int().min(0)),
  change: z
    .object({
      "24h": z.number().nullable(),
      "7d": z.number().nullable(),
      "30d": z.number().nullable(),
    })
    .meta({ description: "Of the floor, as a fraction." }),
});

/** What people browse: one contract, or a family of contracts with combined figures. */
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
    media: z.object({ image: z.url().nullable(), banner: z.url().nullable() }),
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

/** `periods`: the windows whose volume and sales are shown. */
export function presentCollection(
  row: CollectionRow,
  periods: readonly Period[],
  siteUrl: string,
): z.output<typeof Collection> {
  const chainId = row.chainId as ChainId;
  return {
    chainId,
    address: row.address,
    slug: row.slug,
    name: row.name,
    symbol: row.symbol,
    description: null,
    standard: row.standard && nameStandard(row.standard),
    contracts: row.contracts.map(({ address, standard }) => ({
      address,
      standard: standard && nameStandard(standard),
    })),
    media: { image: null, banner: null },
    links: { website: null, twitter: null, discord: null },
    verified: row.verified,
    royalty: null,
    stats: presentStats(row, periods),
    urls: presentCollectionUrls({ siteUrl, chainId }, row.slug ?? row.address),
    createdAt: row.createdAt?.toISOString() ?? null,
    updatedAt: row.updatedAt?.toISOString() ?? null,
  };
}

/** The book and the price feed are not derived yet: nothing is listed, and dollars are unknown. */
function presentStats(row: CollectionRow, periods: readonly Period[]): z.output<typeof stats> {
  const each = <Value>(value: (period: Period) => Value) =>
    Object.fromEntries(periods.map((period) => [period, value(period)]));
  return {
    floor: null,
    floorBuyable: null,
    bestOffer: null,
    listed: 0,
    supply: Number(row.supply),
    holders: Number(row.holders),
    volume: each((period) => displayAmount(row.traded[period].wei)),
    volumeWei: each((period) => String(row.traded[period].wei)),
    volumeUsd: each(() => null),
    sales: each((period) => Number(row.traded[period].sales)),
    change: { "24h": null, "7d": null, "30d": null },
  };
}

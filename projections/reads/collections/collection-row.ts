import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Period, salesColumns } from "#projections/collection-stats/periods.ts";
import type { ListingMarketplace } from "#projections/domain/marketplaces.ts";
import type { ContractMetadata } from "#projections/domain/metadata/contract-metadata.ts";
import { applicableRoyalty, type Royalty } from "#projections/domain/royalty.ts";

/** The collection's cheapest listing, as stored in `collection_stats`. */
export type FloorListing = {
  priceWei: string;
  orderHash: Hex;
  /** Which of the collection's contracts. */
  contract: Hex;
  tokenId: string;
  marketplace: ListingMarketplace;
  isBuyable: boolean;
  /** Address of the wrapped native currency; null: the native one. */
  currency: Hex | null;
};

/** The collection bid that nets the seller most, as stored in `collection_stats`. */
export type BestOffer = { priceWei: string; sellerNetWei: string; orderHash: Hex };

/**
 * Sales in any currency; wei in the chain's currency; `pricedWei` of those with a known price; USD of these in 10⁻⁸, null
 * where a sale has none. Wash trades are counted in these, and their part is apart.
 */
type SalesFigures = {
  sales: bigint;
  wei: bigint;
  pricedWei: bigint;
  usdE8: bigint | null;
  washSales: bigint;
  washWei: bigint;
};

/** A collection with its primary contract's metadata; figures are over all its contracts. */
export type CollectionRow = Omit<ContractMetadata, "name"> & {
  collectionId: number;
  chainId: number;
  address: Hex;
  slug: string | null;
  name: string | null;
  symbol: string | null;
  standard: 721 | 1155 | null;
  verified: boolean;
  createdAt: Date | null;
  updatedAt: Date | null;
  contracts: { address: Hex; standard: 721 | 1155 | null }[];
  /** Of the primary contract. */
  royalty: { recipient: Hex; bps: number; source: Royalty["source"] } | null;
  supply: bigint;
  holders: bigint;
  listed: bigint;
  floor: FloorListing | null;
  floorBuyable: FloorListing | null;
  bestOffer: BestOffer | null;
  salesFigures: Record<Period | "all", SalesFigures>;
  /** Change of the floor, in millionths. */
  change: Record<Period, bigint | null>;
  /** When the first of its orders ends or begins, unix seconds: until then the row is the same in the same data. */
  nextChangeAt: bigint | null;
};

type FlatSalesFigures = Record<(typeof salesColumns)[number], bigint>;
type FlatChange = Record<`change_${Period}`, bigint | null>;
/** The row as selected. */
export type FlatRow = Omit<CollectionRow, "traded" | "change" | "royalty"> &
  FlatSalesFigures &
  FlatChange &
  FlatRoyalties;

type RoyaltyOrigin = "decided" | "partner" | "stated" | "configured";
type FlatRoyalties = Record<`${RoyaltyOrigin}Recipient`, Hex | null> &
  Record<`${RoyaltyOrigin}Bps`, number | null>;

export function nestFigures(row: FlatRow): CollectionRow {
  return Object.assign(row, {
    royalty: royaltyOf(row),
    salesFigures: {
      "24h": salesFiguresOf(row, "24h"),
      "7d": salesFiguresOf(row, "7d"),
      "30d": salesFiguresOf(row, "30d"),
      all: salesFiguresOf(row, "all"),
    },
    change: { "24h": row.change_24h, "7d": row.change_7d, "30d": row.change_30d },
  });
}

/** The one that orders are asked for, as a share of the price: `applicableRoyalty`. */
function royaltyOf(row: FlatRow): CollectionRow["royalty"] {
  const share = (origin: RoyaltyOrigin) => {
    const [recipient, bps] = [row[`${origin}Recipient`], row[`${origin}Bps`]];
    return recipient === null || bps === null ? null : { recipient, bps };
  };
  const stated = share("stated");
  const royalty = applicableRoyalty(row.chainId as ChainId, 10_000n, {
    operator: share("decided"),
    partner: share("partner"),
    erc2981: stated && { recipient: stated.recipient, royaltyWei: BigInt(stated.bps) },
    configured: share("configured"),
  });
  if (royalty === null) return null;
  const { recipient, royaltyWei, source } = royalty;
  return { recipient, bps: Number(royaltyWei), source };
}

function salesFiguresOf(row: FlatRow, period: Period | "all"): SalesFigures {
  const [sales, wei] = [row[`sales_${period}`], row[`wei_${period}`]];
  const pricedWei = row[`priced_wei_${period}`];
  const isUnknown = pricedWei < wei;
  return {
    sales,
    wei,
    pricedWei,
    usdE8: isUnknown ? null : row[`usd_e8_${period}`],
    washSales: row[`wash_sales_${period}`],
    washWei: row[`wash_wei_${period}`],
  };
}

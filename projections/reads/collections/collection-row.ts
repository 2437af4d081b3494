import type { Hex } from "viem";
import type { Period } from "../../collection-stats/periods.ts";
import type { ListingMarketplace } from "../../domain/listing-marketplaces.ts";
import type { ContractMetadata } from "../../domain/metadata/contract-metadata.ts";

/** The collection's cheapest listing, as stored in `collection_stats`. */
export type FloorListing = {
  priceWei: string;
  orderHash: Hex;
  tokenId: string;
  marketplace: ListingMarketplace;
  isBuyable: boolean;
};

/** The collection bid that nets the seller most, as stored in `collection_stats`. */
export type BestOffer = { priceWei: string; sellerNetWei: string; orderHash: Hex };

/** Sales in any currency; wei in the chain's currency; USD of these in 10⁻⁸, null where no price was known. */
type SalesFigures = { sales: bigint; wei: bigint; usdE8: bigint | null };

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
  royalty: { recipient: Hex; bps: number; source: "partner" | "configured" } | null;
  supply: bigint;
  holders: bigint;
  listed: bigint;
  floor: FloorListing | null;
  floorBuyable: FloorListing | null;
  bestOffer: BestOffer | null;
  salesFigures: Record<Period | "all", SalesFigures>;
  /** Change of the floor, in millionths. */
  change: Record<Period, bigint | null>;
  /** The value sorted by. */
  sortKey: bigint;
};

type FlatSalesFigures = Record<
  `${"sales" | "wei" | "priced" | "usd_e8"}_${Period | "all"}`,
  bigint
>;
type FlatChange = Record<`change_${Period}`, bigint | null>;
/** The row as selected. */
export type FlatRow = Omit<CollectionRow, "traded" | "change" | "royalty"> &
  FlatSalesFigures &
  FlatChange & { total: bigint; recipient: Hex | null; bps: number | null; fromPartner: boolean };

export function nestFigures(row: FlatRow): CollectionRow {
  const { recipient, bps, fromPartner } = row;
  const source = fromPartner ? "partner" : "configured";
  return {
    ...row,
    royalty: recipient === null || bps === null ? null : { recipient, bps, source },
    salesFigures: {
      "24h": salesFiguresOf(row, "24h"),
      "7d": salesFiguresOf(row, "7d"),
      "30d": salesFiguresOf(row, "30d"),
      all: salesFiguresOf(row, "all"),
    },
    change: { "24h": row.change_24h, "7d": row.change_7d, "30d": row.change_30d },
  };
}

function salesFiguresOf(row: FlatRow, period: Period | "all"): SalesFigures {
  const [sales, wei] = [row[`sales_${period}`], row[`wei_${period}`]];
  const isUnknown = wei > 0n && row[`priced_${period}`] === 0n;
  return { sales, wei, usdE8: isUnknown ? null : row[`usd_e8_${period}`] };
}

import type { Hex } from "viem";
import type { Period } from "../../collection-stats/periods.ts";
import type { ContractMetadata } from "../../domain/metadata/contract-metadata.ts";
import type { ListingMarketplace } from "../../listings/marketplaces.ts";

/** The family's cheapest listing. */
export type StoredFloor = {
  priceWei: string;
  orderHash: Hex;
  tokenId: string;
  marketplace: ListingMarketplace;
  isBuyable: boolean;
};

/** The bid on any of the family's tokens that nets its seller most. */
export type StoredOffer = { priceWei: string; sellerNetWei: string; orderHash: Hex };

/** Sales in any currency; wei in the chain's; 10⁻⁸ USD of these where a price was known, null where none was. */
type Traded = { sales: bigint; wei: bigint; usdE8: bigint | null };

/** A family of contracts under its primary one, with what that one's document says; figures are of the whole family. */
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
  floor: StoredFloor | null;
  floorBuyable: StoredFloor | null;
  bestOffer: StoredOffer | null;
  traded: Record<Period | "all", Traded>;
  /** Of the floor, in millionths. */
  change: Record<Period, bigint | null>;
  /** What the list was sorted by. */
  sortKey: bigint;
};

type FlatTraded = Record<`${"sales" | "wei" | "priced" | "usd_e8"}_${Period | "all"}`, bigint>;
type FlatChange = Record<`change_${Period}`, bigint | null>;
/** As a statement gives it. */
export type FlatRow = Omit<CollectionRow, "traded" | "change" | "royalty"> &
  FlatTraded &
  FlatChange & { total: bigint; recipient: Hex | null; bps: number | null; fromPartner: boolean };

export function deepen(row: FlatRow): CollectionRow {
  const { recipient, bps, fromPartner } = row;
  const source = fromPartner ? "partner" : "configured";
  return {
    ...row,
    royalty: recipient === null || bps === null ? null : { recipient, bps, source },
    traded: {
      "24h": tradedOf(row, "24h"),
      "7d": tradedOf(row, "7d"),
      "30d": tradedOf(row, "30d"),
      all: tradedOf(row, "all"),
    },
    change: { "24h": row.change_24h, "7d": row.change_7d, "30d": row.change_30d },
  };
}

function tradedOf(row: FlatRow, period: Period | "all"): Traded {
  const [sales, wei] = [row[`sales_${period}`], row[`wei_${period}`]];
  const isUnknown = wei > 0n && row[`priced_${period}`] === 0n;
  return { sales, wei, usdE8: isUnknown ? null : row[`usd_e8_${period}`] };
}

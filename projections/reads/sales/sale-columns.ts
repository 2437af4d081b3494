import { sql } from "kysely";
import type { Hex } from "viem";
import { feesOfSale } from "#projections/sql/sale-fees.ts";
import { saleUsdE8 } from "#projections/engine/usd.ts";
import { collectionColumns, noCollectionColumns } from "#projections/orders/read-orders.ts";

/** Why a sale looks like a wash trade: `projections/sales/README.md`. */
export const washRules = ["same_owner", "back_and_forth", "repeated_purchase"] as const;
export type WashRule = (typeof washRules)[number];

/** A sale and the names of its collection. Wei of `price` per unit, of `total` for the row. */
export type SaleRow = {
  blockId: bigint;
  transactionIndex: number;
  ordinal: number;
  saleId: Hex;
  chainId: number;
  tokenId: bigint;
  quantity: bigint;
  priceWei: bigint;
  totalWei: bigint;
  currency: Hex;
  /** Of one unit at the coin's last price before the sale, in 10⁻⁸; null: no price, or another currency. */
  priceUsdE8: bigint | null;
  seller: Hex;
  buyer: Hex;
  via: Hex | null;
  washRule: WashRule | null;
  side: "ask" | "bid";
  marketplace: string;
  protocol: string;
  protocolVersion: string;
  exchange: Hex;
  orderHash: Hex | null;
  fees: { recipient: Hex; wei: string; bps: number; kind: "service" | "royalty" | "other" }[];
  bundleSize: number | null;
  bundleTotalWei: bigint | null;
  logIndex: number;
  transactionHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  timestamp: Date;
  contract: Hex;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
};

/**
 * What of a sale's row is wanted: its collection's names, its price in USD, its wash rule. The rest is null, and not looked
 * up: PostgreSQL leaves out joins that no column needs.
 */
export type SalePart = "collection" | "usd" | "washRule";
export type SaleParts = ReadonlySet<SalePart>;
const allSaleParts: SaleParts = new Set(["collection", "usd", "washRule"]);

/** Columns of `SaleRow`, of a row `s` of sales.sale joined with `saleNames`. */
export const saleColumns = (parts: SaleParts = allSaleParts) => sql`
  s.block_id as "blockId", s.transaction_index as "transactionIndex", s.ordinal,
  s.sale_id as "saleId", s.chain_id as "chainId", s.token_id as "tokenId", s.quantity,
  s.price_wei as "priceWei", s.total_wei as "totalWei", s.currency,
  ${parts.has("usd") ? saleUsdE8 : sql`null::numeric`} as "priceUsdE8", s.seller, s.buyer, s.via, ${parts.has("washRule") ? sql`wash.rule` : sql`null::text`} as "washRule", s.side,
  s.marketplace, s.protocol, s.protocol_version as "protocolVersion", s.exchange, s.order_hash as "orderHash",
  ${sql.raw(feesOfSale("s"))} as fees, s.bundle_size as "bundleSize", s.bundle_total_wei as "bundleTotalWei",
  s.log_index as "logIndex", s.transaction_hash as "transactionHash",
  s.block_number as "blockNumber", s.block_hash as "blockHash", s.timestamp,
  traded.address as contract, ${parts.has("collection") ? collectionColumns : noCollectionColumns}`;

/** SQL: joins the wash trade of row `s`. */
export const washTradeOfSale = sql`
  left join sales.wash_trade wash on wash.block_id = s.block_id
    and wash.transaction_index = s.transaction_index and wash.ordinal = s.ordinal`;

/** SQL: joins the contract, the collection and the wash trade of row `s`. */
export const saleNames = sql`
  left join log.contract traded on traded.contract_id = s.contract_id
  left join collections.contract m on m.contract_id = s.contract_id
  left join collections.collection c on c.collection_id = coalesce(m.collection_id, s.contract_id)
  left join log.contract main on main.contract_id = c.collection_id
  ${washTradeOfSale}`;

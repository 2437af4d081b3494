import { sql } from "kysely";
import type { Hex } from "viem";
import { collectionColumns, noCollectionColumns } from "#projections/orders/read-orders.ts";
import { saleUsdE8 } from "../engine/usd.ts";
import type { Database } from "../log/database.ts";
import { bytea, storedRow } from "../log/sql-values.ts";
import { newestFirst } from "./read-sale-filter.ts";

/** The sale with an id; of two live blocks with its transaction the higher one. */
export async function readSale(
  db: Database,
  chainId: number,
  saleId: Hex,
): Promise<SaleRow | null> {
  const { rows } = await sql<SaleRow>`
    select ${saleColumns()} from sales.sale s ${saleNames}
    where s.sale_id = ${bytea(saleId)} and s.chain_id = ${chainId} ${newestFirst} limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** The row of a sale with the rule by which it is a wash trade, and the transaction it was made from; several while two live blocks hold that transaction. */
type FoundSale = { row: Record<string, unknown>; blockId: bigint; transactionIndex: number };

export async function findSales(db: Database, saleId: Hex): Promise<FoundSale[]> {
  const { rows } = await sql<FoundSale>`
    select ${storedRow(sql`s`)} || jsonb_build_object('wash_trade', wash.rule) as row,
           s.block_id as "blockId", s.transaction_index as "transactionIndex"
    from sales.sale s ${washTradeOfSale}
    where s.sale_id = ${bytea(saleId)} order by s.block_id`.execute(db);
  return rows;
}

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

/**
 * SQL: the fees of the row `sale` of `sales.sale`, with their kinds. Royalty is what goes to a recipient that was ever known
 * for the contract: required by a partner, stated by ERC-2981 (of any token) or the operator, or that is configured for its collection.
 * Derived when it is read, as a source may become known long after the sale; the row itself tells service fees from others.
 */
export const feesOfSale = (sale: string): string => `
  case when ${sale}.fees @> '[{"kind": "other"}]' then (
    select jsonb_agg(case when fee.value ->> 'kind' = 'other' and ${isRoyalty(sale, "fee.value ->> 'recipient'")}
                          then fee.value || '{"kind": "royalty"}' else fee.value end order by fee.ordinality)
    from jsonb_array_elements(${sale}.fees) with ordinality fee
  ) else ${sale}.fees end`;

/** SQL: whether a recipient (text) was ever known as one of royalties of the contract of the row `sale`. */
export function isRoyalty(sale: string, recipient: string): string {
  const bytes = `decode(substr(${recipient}, 3), 'hex')`;
  const ofContract = `known.contract_id = ${sale}.contract_id and known.bps > 0 and known.recipient = ${bytes}`;
  return `(
    exists (select from collections.stated_royalty known where ${ofContract})
    or exists (select from collections.creator_fee known where ${ofContract} and known.counts)
    or exists (
      select from log.contract sold
      join collections.registry_contract member on member.chain_id = sold.chain_id and member.address = sold.address
      join collections.registry_collection known on known.collection_id = member.collection_id
      where sold.contract_id = ${sale}.contract_id and known.royalty_bps > 0 and known.royalty_recipient = ${bytes}
    ))`;
}

import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../database.ts";
import { blockIdRange } from "../log/block-id.ts";

/** A sale and what names its collection. Wei of `price` per unit, of `total` for the row. */
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
  usd: number | null;
  seller: Hex;
  buyer: Hex;
  side: "ask" | "bid";
  marketplace: string;
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

/** Place of a sale in the order of its chain. */
export type SaleKey = { blockId: bigint; transactionIndex: number; ordinal: number };

export type SalesFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  /** Only together with contracts. */
  tokenId: bigint | null;
};

type Slice = { limit: number; offset: number; after: SaleKey | null };

/** Sales newest first, and how many the filter matches, of one moment. */
export async function readSales(
  db: Database,
  filter: SalesFilter,
  slice: Slice,
): Promise<{ total: bigint; rows: SaleRow[] }> {
  const { rows } = await sql<SaleRow & { total: bigint; blockId: bigint | null }>`
    with counted as (${countOf(filter)}),
    page as (${pageOf(filter, slice)})
    select counted.total,
           s.block_id as "blockId", s.transaction_index as "transactionIndex", s.ordinal,
           s.sale_id as "saleId", s.chain_id as "chainId", s.token_id as "tokenId", s.quantity,
           s.price_wei as "priceWei", s.total_wei as "totalWei", s.currency, s.usd, s.seller, s.buyer, s.side,
           s.marketplace, s.protocol_version as "protocolVersion", s.exchange, s.order_hash as "orderHash",
           s.fees, s.bundle_size as "bundleSize", s.bundle_total_wei as "bundleTotalWei",
           s.log_index as "logIndex", s.transaction_hash as "transactionHash",
           s.block_number as "blockNumber", s.block_hash as "blockHash", s.timestamp,
           traded.address as contract, coalesce(main.address, traded.address) as "collectionAddress",
           c.slug as "collectionSlug", c.name as "collectionName"
    from counted
    left join page s on true
    left join log.contract traded on traded.contract_id = s.contract_id
    left join collections.member m on m.contract_id = s.contract_id
    left join collections.collection c on c.collection_id = coalesce(m.collection_id, s.contract_id)
    left join log.contract main on main.contract_id = c.collection_id
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter((row) => row.blockId !== null) };
}

const newestFirst = sql`order by s.block_id desc, s.transaction_index desc, s.ordinal desc`;

function pageOf({ chainId, contractIds, tokenId }: SalesFilter, slice: Slice): RawBuilder<unknown> {
  const { limit, offset, after } = slice;
  const older =
    after === null
      ? sql``
      : sql`and (s.block_id, s.transaction_index, s.ordinal)
              < (${after.blockId}, ${after.transactionIndex}, ${after.ordinal})`;
  if (contractIds === null) {
    const chain = blockIdRange(chainId);
    // A second upper bound beside the cursor's would make the index scan start there and walk the whole depth.
    const below = after === null ? sql`and s.block_id < ${chain.to}` : older;
    return sql`
      select s.* from sales.sale s
      where s.block_id >= ${chain.from} ${below}
      ${newestFirst} limit ${limit} offset ${offset}`;
  }
  const ofToken = tokenId === null ? sql`` : sql`and s.token_id = ${tokenId}`;
  // Each contract's own index gives its newest; their union is sorted again.
  return sql`
    select s.*
    from unnest(${contractIds}::int[]) wanted (contract_id)
    cross join lateral (
      select s.* from sales.sale s
      where s.contract_id = wanted.contract_id ${ofToken} ${older}
      ${newestFirst} limit ${limit + offset}
    ) s
    ${newestFirst} limit ${limit} offset ${offset}`;
}

function countOf({ chainId, contractIds, tokenId }: SalesFilter): RawBuilder<unknown> {
  if (tokenId !== null) {
    return sql`
      select count(*) as total from sales.sale
      where contract_id = any (${contractIds}::int[]) and token_id = ${tokenId}`;
  }
  return sql`
    select coalesce(sum(sales), 0)::bigint as total from sales.total
    where chain_id = ${chainId} and contract_id = any (${contractIds ?? [0]}::int[])`;
}

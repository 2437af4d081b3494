import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Session } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { collectionJoins } from "../orders/order-columns.ts";
import { type ActivityFilter, contractRows, cutAtStop, maxScannedRows, type OrderType, orderTypesOf, type ScanResult } from "./read-filter.ts";

/** A submitted order. Wei of `priceWei` are per unit. */
export type OrderRow = {
  position: bigint;
  type: OrderType;
  at: Date;
  contract: Hex;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
  /** null: any token of the contract. */
  tokenId: bigint | null;
  quantity: bigint;
  maker: Hex;
  priceWei: bigint;
  /** null: native. */
  currency: Hex | null;
  orderHash: Hex;
  /** Unix seconds. */
  endTime: bigint;
};

/** Orders as they were submitted, newest first, before a position. */
export async function readOrders(
  session: Session,
  filter: ActivityFilter,
  { before, limit }: { before: bigint | null; limit: number },
): Promise<ScanResult<OrderRow, bigint>> {
  if (orderTypesOf(filter).length === 0) return { rows: [], stoppedAt: null };
  const { rows } = await sql<OrderRow>`
    select o.position, ${type} as type, o.recorded_at as at, traded.address as contract,
           coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug",
           c.name as "collectionName", o.token_id as "tokenId", o.amount as quantity, o.from_address as maker,
           (o.payload #>> '{terms,unitPriceWei}')::numeric as "priceWei",
           case when ${isBid} then decode(substr(o.payload #>> '{components,offer,0,token}', 3), 'hex') end as currency,
           o.order_hash as "orderHash", (o.payload #>> '{components,endTime}')::numeric as "endTime"
    from (select * from (${matching(filter, before, limit)}) f ${newestFirst} limit ${limit}) o ${collectionJoins}
    order by o.position desc`.execute(session);
  if (rows.length === limit && isSingleScan(filter)) return { rows, stoppedAt: null };
  return cutAtStop(
    rows,
    limit,
    ({ position }, key) => position < key,
    await readStop(session, filter, before),
  );
}

/** Whether the rows come from one scan, which did not stop early if it found the whole limit. */
const isSingleScan = ({ wallet, contractIds }: ActivityFilter): boolean =>
  wallet !== null || contractIds === null || contractIds.length === 1;

const newestFirst = sql`order by f.position desc`;
const isBid = sql`o.payload #>> '{terms,side}' = 'bid'`;
const type = sql`case when ${isBid} then 'offer' else 'listing' end`;

function matching(
  filter: ActivityFilter,
  before: bigint | null,
  limit: number,
): RawBuilder<unknown> {
  const sides = orderTypesOf(filter).map((one) => (one === "offer" ? "bid" : "ask"));
  const { chainId, contractIds } = filter;
  const ofCollection =
    contractIds === null ? sql`true` : sql`f.contract_id = any (${contractIds}::int[])`;
  return scansOf(
    filter,
    before,
    (scan) => sql`
      select f.* from (${scan} ${newestFirst} limit ${maxScannedRows}) f
      where f.payload #>> '{terms,side}' = any (${sides}::text[]) and ${ofCollection}
        and exists (
          select from log.contract k where k.contract_id = f.contract_id and k.chain_id = ${chainId} offset 0
        )
      ${newestFirst} limit ${limit}`,
  );
}

/** Where the scans stopped that reached their limit: no older row was read. */
async function readStop(
  session: Session,
  filter: ActivityFilter,
  before: bigint | null,
): Promise<{ key: bigint; at: Date } | null> {
  const ends = scansOf(
    filter,
    before,
    (scan) => sql`${scan} ${newestFirst} offset ${maxScannedRows - 1} limit 1`,
  );
  const { rows } = await sql<{ key: bigint; at: Date }>`
    select f.position as key, (select recorded_at from log.fact where position = f.position) as at
    from (${ends}) f ${newestFirst} limit 1`.execute(session);
  return rows[0] ?? null;
}

/** SQL: union of what `make` builds from each index scan that the filter needs. */
function scansOf(
  { wallet, contractIds, tokenId }: ActivityFilter,
  before: bigint | null,
  make: (scan: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const older = before === null ? sql`` : sql`and f.position < ${before}`;
  const scan = (where: RawBuilder<unknown>) => sql`
    select f.* from log.fact f where f.kind = ${kindLiteral("order_submitted")} and ${where} ${older}`;
  if (wallet !== null) return make(scan(sql`f.from_address = ${bytea(wallet)}`));
  if (contractIds === null) return make(scan(sql`true`));
  const ofToken = tokenId === null ? sql`` : sql`and f.token_id = ${tokenId}::numeric`;
  return sql`
    select f.* from ${contractRows(contractIds)}
    cross join lateral (${make(scan(sql`f.contract_id = one.contract_id ${ofToken}`))}) f`;
}

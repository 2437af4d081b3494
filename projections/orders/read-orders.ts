import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import {
  type OrderFacts,
  type OrderStatus,
  orderStatuses,
  statusPrecedence,
} from "#projections/domain/orders/order-status.ts";
import type { Relation } from "#projections/engine/projection.ts";
import { openScratchTable } from "#projections/engine/scratch.ts";
import { usdE8AtOnce } from "#projections/engine/usd.ts";
import type { Database, Session } from "#projections/log/database.ts";
import type { OrderSubject } from "#projections/log/facts.ts";
import { byteaArray, storedRow } from "#projections/log/sql-values.ts";
import { schemaOf } from "#projections/log/versions.ts";

/** Whether the order `o` has not ended: it may become fillable again. Worded as the predicates of partial indexes. */
export const isOpen = sql`o.status in ('active', 'inactive')`;

/** `orderStatus` as an expression over conditions that are never null. */
export function statusCase(
  conditions: Readonly<Record<keyof OrderFacts, RawBuilder<unknown>>>,
): RawBuilder<OrderStatus> {
  const branches = statusPrecedence.map(
    ([status, fact]) => sql`when ${conditions[fact]} then ${sql.lit(status)}`,
  );
  return sql`case ${sql.join(branches, sql` `)} else 'active' end`;
}

/** The first of the reasons whose condition holds, or null. A reason without a condition never does. */
export function reasonCase<Reason extends string>(
  reasons: readonly Reason[],
  conditions: Readonly<Partial<Record<Reason, RawBuilder<unknown>>>>,
): RawBuilder<Reason | null> {
  const branches = reasons.flatMap((reason) => {
    const condition = conditions[reason];
    return condition === undefined ? [] : [sql`when ${condition} then ${sql.lit(reason)}`];
  });
  return sql`case ${sql.join(branches, sql` `)} end`;
}

/**
 * The end of a statement whose query `changed` holds orders with their new and old states (`status`, `old_status`;
 * with `is_compacted` there is no new one):
 * applies the difference to `count`, the number of orders by chain, contract, `dimension` and status.
 * `oldDimension` is the column with the value of `dimension` before.
 */
export function storeCounts(
  schema: string,
  dimension: "marketplace" | "kind",
  oldDimension: "old_marketplace" | "kind",
): { queries: RawBuilder<unknown>; statement: RawBuilder<unknown> } {
  const count = sql.table(`${schema}.count`);
  const key = sql`chain_id, contract_id, ${sql.ref(dimension)}, status`;
  const isSame = sql`
    c.chain_id = d.chain_id and c.contract_id = d.contract_id and c.status = d.status
    and c.${sql.ref(dimension)} = d.${sql.ref(dimension)}`;
  return {
    queries: sql`
      count_delta as materialized (
        select d.*, c.rows is null as is_new, coalesce(c.rows, 0) + d.by as after
        from (
          select ${key}, sum(by) as by
          from (
            select ${key}, 1 as by from changed where not is_compacted
            union all
            select chain_id, contract_id, ${sql.ref(oldDimension)}, old_status, -1 from changed
            where old_status is not null
          ) leg
          group by ${key} having sum(by) <> 0
        ) d
        left join ${count} c on ${isSame}
      ), emptied_count as (
        delete from ${count} c using count_delta d where d.after = 0 and ${isSame}
      ), updated_count as (
        update ${count} c set rows = d.after from count_delta d where d.after <> 0 and not d.is_new and ${isSame}
      )`,
    statement: sql`
      insert into ${count} (${key}, rows)
      select ${key}, after from count_delta where is_new`,
  };
}

/** What listings and bids have in common. Wei are per unit; start and end are unix seconds. */
export type OrderRow = {
  chainId: number;
  orderHash: Hex;
  /** Of its first fact. */
  position: bigint;
  contractId: number;
  contract: Hex;
  standard: 721 | 1155;
  maker: Hex;
  unitPriceWei: bigint;
  /** The same in 10⁻⁸ USD at the coin's current price; null without a price. */
  unitPriceUsdE8: bigint | null;
  sellerNetWei: bigint;
  quantity: bigint;
  filled: bigint;
  startTime: bigint;
  endTime: bigint;
  counter: bigint;
  fees: { recipient: Hex; unitWei: string; kind: "service" | "royalty" | "other" }[];
  createdAt: Date;
  /** `createdAt` in microseconds, the precision it is stored with. */
  createdMicros: bigint;
  status: OrderStatus;
  updatedAt: Date;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
};

/** The two projections of orders. */
export type OrderSchema = "listings" | "bids";

export function orderTable(schema: OrderSchema): RawBuilder<unknown> {
  return sql.table(schema === "listings" ? "listings.listing" : "bids.bid");
}

/** Whether `o` has ended: the tables know the time of the last clock tick only. */
export function hasEnded(now: Date): RawBuilder<boolean> {
  return sql`o.end_time <= ${unixSeconds(now)}::bigint`;
}

export function unixSeconds(now: Date): bigint {
  return BigInt(Math.floor(now.getTime() / 1000));
}

/** Whether row `o` has ended since the last clock tick. */
export function endedSince(now: Date): RawBuilder<boolean> {
  return sql`(${isOpen} and ${hasEnded(now)})`;
}

/**
 * What of an order's row is wanted: its collection's names, its price in USD, its fees, of a bid on traits how many tokens
 * have them now. The rest is null or empty, and not
 * looked up: PostgreSQL leaves out joins that no column needs.
 */
export type OrderPart = "collection" | "usd" | "fees" | "traits";
export type OrderParts = ReadonlySet<OrderPart>;
export const allOrderParts: OrderParts = new Set(["collection", "usd", "fees", "traits"]);

/** Columns of `OrderRow` and `reason`, of an order's row `o` joined with `collectionJoins`. */
export function orderColumns(now: Date, parts: OrderParts): RawBuilder<unknown> {
  const ended = endedSince(now);
  const at = sql`${now.toISOString()}::timestamptz`;
  const fees = parts.has("fees") ? sql`o.fees` : sql`'[]'::jsonb`;
  const usdE8 = usdE8AtOnce(sql`o.unit_price_wei`, sql`o.chain_id`, at);
  return sql`
    o.chain_id as "chainId", o.order_hash as "orderHash", o.position, o.contract_id as "contractId",
    traded.address as contract, o.standard, o.maker, o.unit_price_wei as "unitPriceWei",
    ${parts.has("usd") ? usdE8 : sql`null::numeric`} as "unitPriceUsdE8", o.seller_net_wei as "sellerNetWei", o.quantity, o.filled,
    o.start_time as "startTime", o.end_time as "endTime", o.counter, ${fees} as fees, o.created_at as "createdAt",
    (extract(epoch from o.created_at) * 1000000)::bigint as "createdMicros",
    case when ${ended} then 'expired' else o.status end as status,
    case when ${ended} then null else o.reason end as reason,
    case when ${ended} then to_timestamp(o.end_time) else o.updated_at end as "updatedAt",
    ${parts.has("collection") ? collectionColumns : noCollectionColumns}`;
}

/** SQL: the names of the collection, of a row with `collectionJoins`. */
export const collectionColumns = sql`
  coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug", c.name as "collectionName"`;
export const noCollectionColumns = sql`
  null::bytea as "collectionAddress", null::text as "collectionSlug", null::text as "collectionName"`;

/** Joins the contract and the collection of row `o`; an unregistered contract is a collection without a name. */
export const collectionJoins = sql`
  left join log.contract traded on traded.contract_id = o.contract_id
  left join collections.contract m on m.contract_id = o.contract_id
  left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
  left join log.contract main on main.contract_id = c.collection_id`;

/** The status of a list's orders, as shown at the time of the request. */
export type ListedStatus = OrderStatus | "all";

const open: readonly OrderStatus[] = ["active", "inactive"];

/** Whether a status is one of orders that may be filled, now or later. */
export function isOpenStatus(status: ListedStatus): boolean {
  return status !== "all" && open.includes(status);
}

/** The stored statuses that may be shown as one: an order that has ended since the last clock tick is still stored open. */
export function storedStatuses(status: ListedStatus): readonly OrderStatus[] {
  if (status === "all") return orderStatuses;
  return status === "expired" ? ["expired", ...open] : [status];
}

/** SQL: whether order `o` is stored with such a status, worded as the predicates of partial indexes. */
export function ofStatus(status: ListedStatus): RawBuilder<unknown> {
  if (isOpenStatus(status)) return sql`${isOpen} and o.status = ${status}`;
  const stored = storedStatuses(status);
  return stored.length === 1
    ? sql`o.status = ${stored[0]}`
    : sql`o.status = any (${stored}::text[])`;
}

/** SQL, after `ofStatus`: what the time adds to the stored status. */
export function timely(status: ListedStatus, now: Date): RawBuilder<unknown> {
  if (isOpenStatus(status)) return sql`and not ${hasEnded(now)}`;
  return status === "expired" ? sql`and (o.status = 'expired' or ${hasEnded(now)})` : sql``;
}

/** Those of the orders that a table holds, unsorted; `columns` are of its row `o` joined with `collectionJoins`. */
export async function readOrdersByHash<Row extends OrderRow>(
  db: Database,
  { schema, columns }: { schema: OrderSchema; columns: RawBuilder<unknown> },
  chainId: number,
  orderHashes: readonly Hex[],
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select ${columns}
    from ${orderTable(schema)} o ${collectionJoins}
    where o.chain_id = ${chainId} and o.order_hash = any (${byteaArray(orderHashes)})`.execute(db);
  return rows;
}

/** The stored row of an order, and the keys of the facts that its state depends on. */
type FoundOrder = { row: Record<string, unknown>; subject: OrderSubject };

/** Rows with an order's hash, which is the same for equal components on two chains. */
export async function findOrders(
  db: Database,
  side: "listing" | "bid",
  orderHash: Hex,
): Promise<FoundOrder[]> {
  const hash = Buffer.from(orderHash.slice(2), "hex");
  const table = sql.table(side === "listing" ? "listings.listing" : "bids.bid");
  // A listing does not depend on its maker's funds.
  const payerCurrency =
    side === "listing"
      ? sql`null::integer`
      : sql`(select contract_id from log.contract k where k.chain_id = o.chain_id and k.address = o.currency)`;
  const found = await sql<OrderSubject & { row: Record<string, unknown> }>`
    select ${storedRow(sql`o`)} as row, o.chain_id as "chainId", o.order_hash as "orderHash", o.maker,
           o.contract_id as "contractId", o.token_id as "tokenId", o.end_time as "endTime",
           ${payerCurrency} as "currencyId"
    from ${table} o where o.order_hash = ${hash} order by o.chain_id`.execute(db);
  return found.rows.map(({ row, ...subject }) => ({ row, subject }));
}

/** The position up to which both listings and bids are projected; 0 before their tables exist. */
export async function readOrderBookPosition(db: Database): Promise<bigint> {
  const { rows } = await sql<{ position: bigint | null }>`
    select case when count(*) = 2 then min(position) end as position
    from engine.checkpoint where projection in (${schemaOf("listings")}, ${schemaOf("bids")})`.execute(
    db,
  );
  return rows[0]?.position ?? 0n;
}

/** The orders that a transaction changed, by the schema of their tables, in a table of the session. */
export const changedOrder = sql`pg_temp.changed_order`;

/** Makes the table. */
export async function openChangedOrders(session: Session): Promise<void> {
  const columns =
    "schema text, chain_id integer, order_hash bytea, contract_id integer, token_id numeric(78,0)";
  await openScratchTable(session, "changed_order", columns);
}

/** A query of a statement whose query `changed` holds orders of a schema: adds them. */
export const noteChanged = (schema: string): RawBuilder<unknown> => sql`
  noted as (
    insert into ${changedOrder} (schema, chain_id, order_hash, contract_id, token_id)
    select ${schema}, chain_id, order_hash, contract_id, token_id from changed
  )`;

/** Their tokens. */
export const changedTokensOf = (schema: string): Relation =>
  sql`(select distinct contract_id, token_id from ${changedOrder} where schema = ${schema})`;

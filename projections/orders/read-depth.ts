import { type RawBuilder, sql } from "kysely";
import type { ListingMarketplace } from "../domain/marketplaces.ts";
import type { BidKind } from "../domain/orders/order-terms.ts";
import { assertFoldable } from "../engine/fold-budget.ts";
import type { Database } from "../log/database.ts";
import type { PastOrders } from "./read-order-page.ts";
import { ofStatus, orderTable, timely } from "./read-orders.ts";

/** What stands at one price: of listings by marketplace, of bids by kind. Units can be filled now. */
export type DepthPart<Part extends string> = {
  part: Part;
  priceWei: bigint;
  orders: bigint;
  units: bigint;
  /** Highest net of the seller for one unit, and the net of all units. */
  bestNetWei: bigint;
  netWei: bigint;
};

/** Parts best price first, and whether there are more orders, of further prices or of the last one. */
export type Depth<Part extends string> = { parts: DepthPart<Part>[]; isTruncated: boolean };

/** Orders of a side that are read at most, whatever their number: one price may have any number of them. */
export const maxDepthOrders = 5_000;

type Side = {
  schema: "listings" | "bids";
  part: RawBuilder<unknown>;
  units: RawBuilder<unknown>;
  /** On `unit_price_wei`. */
  bestFirst: RawBuilder<unknown>;
  /** Orders of another time than the table's. */
  past?: PastOrders | undefined;
};

const listingSide: Side = {
  schema: "listings",
  part: sql`o.marketplace`,
  units: sql`o.fillable`,
  bestFirst: sql`asc`,
};
const bidSide: Side = {
  schema: "bids",
  part: sql`o.kind`,
  units: sql`o.quantity - o.filled`,
  bestFirst: sql`desc`,
};

/** The active listings of contracts at their `levels` lowest prices. */
export function readListingDepth(
  db: Database,
  contractIds: readonly number[],
  levels: number,
  now: Date,
  past?: PastOrders,
): Promise<Depth<ListingMarketplace>> {
  return readDepth(db, contractIds, levels, now, { ...listingSide, past });
}

/** The active bids on contracts and their tokens at their `levels` highest prices. */
export function readBidDepth(
  db: Database,
  contractIds: readonly number[],
  levels: number,
  now: Date,
  past?: PastOrders,
): Promise<Depth<BidKind>> {
  return readDepth(db, contractIds, levels, now, { ...bidSide, past });
}

async function readDepth<Part extends string>(
  db: Database,
  contractIds: readonly number[],
  levels: number,
  now: Date,
  { schema, part, units, bestFirst, past }: Side,
): Promise<Depth<Part>> {
  const byPrice = sql`order by o.unit_price_wei ${bestFirst}, o.position ${bestFirst}`;
  const { rows } = await sql<DepthPart<Part> & { level: bigint; read: bigint; folded: number }>`
    with ${past === undefined ? sql`` : sql`${past.ctes},`} nearest as materialized (
      select o.* from unnest(${contractIds}::int[]) one (contract_id)
      cross join lateral (
        select o.* from ${past?.rows ?? orderTable(schema)} o
        where o.contract_id = one.contract_id and ${ofStatus("active")} ${timely("active", now)}
        ${byPrice} limit ${maxDepthOrders + 1}
      ) o ${byPrice} limit ${maxDepthOrders + 1}
    )
    select * from (
      select ${part} as part, o.unit_price_wei as "priceWei", count(*) as orders, sum(${units}) as units,
             max(o.seller_net_wei) as "bestNetWei", sum(o.seller_net_wei * (${units})) as "netWei",
             dense_rank() over (order by o.unit_price_wei ${bestFirst}) as level,
             (select count(*) from nearest) as read, ${past?.folded ?? sql`0`} as folded
      from nearest o group by o.unit_price_wei, ${part}
    ) o where level <= ${levels + 1} order by level, part`.execute(db);
  assertFoldable(rows[0]?.folded ?? 0);
  const shown = rows.filter(({ level }) => level <= levels);
  const isTruncated = shown.length < rows.length || (rows[0]?.read ?? 0n) > maxDepthOrders;
  return { parts: shown.map(({ level, read, folded, ...row }) => row), isTruncated };
}

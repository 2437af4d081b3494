import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { bytea } from "#projections/log/sql-values.ts";
import { type ListedStatus, ofStatus, storedStatuses, timely } from "./listed-status.ts";
import { hasEnded, type OrderSchema, orderTable } from "./order-columns.ts";

/** What listings and bids are both filtered by. */
export type OrderFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  tokenId: bigint | null;
  maker: Hex | null;
  /** Ended orders only of a maker or a token: just these have an index over them. */
  status: ListedStatus;
};

/** A filter on the table of listings or of bids, with the conditions that only one of them has. */
export type OrderQuery = {
  schema: OrderSchema;
  filter: OrderFilter;
  /** On a row of the order table, its columns unqualified. */
  condition: RawBuilder<unknown>;
  /** The same on a row of the `count` table; null where that table has no such column. */
  countCondition: RawBuilder<unknown> | null;
  /** Marketplaces that may match, each with an index range of its own; null: one index range holds all rows. */
  marketplaces: readonly string[] | null;
};

/** Ranges that are sorted within an index: one per contract or marketplace, and one per stored status of several. */
export function indexRanges({ filter: { contractIds, status }, marketplaces }: OrderQuery) {
  const stored = storedStatuses(status);
  const ranges: { values: RawBuilder<unknown>; condition: RawBuilder<unknown> }[] = [];
  if (contractIds !== null) {
    ranges.push({
      values: sql`unnest(${contractIds}::int[]) wanted (contract_id)`,
      condition: sql`o.contract_id = wanted.contract_id`,
    });
  } else if (marketplaces !== null) {
    ranges.push({
      values: sql`unnest(${marketplaces}::text[]) wanted (marketplace)`,
      condition: sql`o.marketplace = wanted.marketplace`,
    });
  }
  if (stored.length > 1) {
    ranges.push({
      values: sql`unnest(${stored}::text[]) stored (status)`,
      condition: sql`o.status = stored.status`,
    });
  }
  if (ranges.length === 0) return null;
  return {
    values: sql.join(
      ranges.map(({ values }) => values),
      sql` cross join `,
    ),
    condition: sql.join(
      ranges.map(({ condition }) => condition),
      sql` and `,
    ),
  };
}

/** How many match: the rows, or their counted number as of the tables' clock, less the orders that have ended since. */
export function totalOf(query: OrderQuery, now: Date): RawBuilder<unknown> {
  const rows = sql`
    select count(*) from ${orderTable(query.schema)} o where ${ofContracts(query)} and`;
  if (!hasCounts(query)) return sql`(${rows} ${conditions(query, now)})`;
  return sql`(${sumOfCounts(query)}) - (${rows} ${filters(query)} and ${hasEnded(now)})`;
}

function hasCounts({ filter, countCondition }: OrderQuery): boolean {
  return countCondition !== null && filter.tokenId === null && filter.maker === null;
}

function sumOfCounts({ schema, filter, countCondition }: OrderQuery): RawBuilder<unknown> {
  const { chainId, contractIds, status } = filter;
  const contracts =
    contractIds === null ? sql`` : sql`and n.contract_id = any (${contractIds}::int[])`;
  return sql`
    select coalesce(sum(n.rows), 0)::bigint from ${sql.table(`${schema}.count`)} n
    where n.chain_id = ${chainId} and n.status = ${status} ${contracts} and ${countCondition}`;
}

function ofContracts({ filter: { contractIds } }: OrderQuery): RawBuilder<unknown> {
  return contractIds === null ? sql`true` : sql`o.contract_id = any (${contractIds}::int[])`;
}

export function conditions(query: OrderQuery, now: Date): RawBuilder<unknown> {
  return sql`${filters(query)} ${timely(query.filter.status, now)}`;
}

function filters({ filter, condition }: OrderQuery): RawBuilder<unknown> {
  const { chainId, tokenId, maker, status } = filter;
  const ofToken = tokenId === null ? sql`` : sql`and o.token_id = ${tokenId}`;
  const ofMaker = maker === null ? sql`` : sql`and o.maker = ${bytea(maker)}`;
  return sql`
    ${ofStatus(status)} and o.chain_id = ${chainId} ${ofToken} ${ofMaker} and ${condition}`;
}

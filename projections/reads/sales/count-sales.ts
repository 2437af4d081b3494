import { type RawBuilder, sql } from "kysely";
import { blockIdRange } from "#projections/log/blocks.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { wholeChain } from "./order.ts";
import type { SalesFilter } from "./sales-filter.ts";
import { isFiltered, isWithin, matchesTrade, namesParty } from "./trade-filter.ts";

/** SQL: how many sales match, of a filter without traits. */
export function countOf(filter: SalesFilter): RawBuilder<unknown> {
  const { chainId, contractIds, tokenId, trade } = filter;
  if (namesParty(trade)) return countOfParty(filter);
  if (tokenId !== null && contractIds === null && !isFiltered(trade)) {
    return sql`
      select coalesce(sum(sales), 0)::bigint as total from sales.token_total
      where chain_id = ${chainId} and token_id = ${tokenId}`;
  }
  if (tokenId !== null) {
    return sql`
      select count(*) as total from sales.sale s
      where s.chain_id = ${chainId} and ${matchesSale(filter)} and ${isWithin(trade)}`;
  }
  if (isFiltered(trade)) return countByDay(filter);
  return sql`
    select coalesce(sum(sales), 0)::bigint as total from sales.total
    where chain_id = ${chainId} and contract_id = any (${contractIds ?? [wholeChain]}::int[])`;
}

/** SQL: rows of sale `s` on one side or the other of a wallet, each once. */
export function sidesOf(
  { trade: { wallet } }: SalesFilter,
  make: (condition: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (wallet === null) return make(sql`true`);
  const own = bytea(wallet);
  return sql`
    (${make(sql`s.buyer = ${own}`)}) union all (${make(sql`s.seller = ${own} and s.buyer <> ${own}`)})`;
}

/** SQL: what a filter without a wallet says of sale `s`, apart from its order. */
export function matchesSale({ contractIds, tokenId, trade }: SalesFilter): RawBuilder<unknown> {
  const ofContracts =
    contractIds === null ? sql`` : sql`and s.contract_id = any (${contractIds}::int[])`;
  const ofToken = tokenId === null ? sql`` : sql`and s.token_id = ${tokenId}`;
  return sql`${matchesTrade(trade)} ${ofContracts} ${ofToken}`;
}

function countOfParty(filter: SalesFilter): RawBuilder<unknown> {
  const { from, to } = blockIdRange(filter.chainId);
  const rows = sidesOf(
    filter,
    (isSide) => sql`
      select 1 from sales.sale s
      where ${isSide} and s.block_id >= ${from} and s.block_id < ${to}
        and ${matchesSale(filter)} and ${isWithin(filter.trade)}`,
  );
  return sql`select count(*) as total from (${rows}) matching`;
}

const dayMs = 86_400_000;

/** Whole days are counted by `sales.day`, the rest of the first and the last one by their sales. */
function countByDay(filter: SalesFilter): RawBuilder<unknown> {
  const { since, until } = filter.trade;
  const firstDay = since === null ? null : new Date(Math.ceil(since.getTime() / dayMs) * dayMs);
  const endDay = until === null ? null : new Date(Math.floor(until.getTime() / dayMs) * dayMs);
  if (firstDay !== null && endDay !== null && firstDay >= endDay) {
    return sql`select ${salesBetween(filter, since, until)} as total`;
  }
  return sql`
    select ${wholeDays(filter, firstDay, endDay)}
           + ${firstDay === null ? sql`0` : salesBetween(filter, since, firstDay)}
           + ${endDay === null ? sql`0` : salesBetween(filter, endDay, until)} as total`;
}

function wholeDays(
  { chainId, contractIds, trade: { marketplace, protocol, currency } }: SalesFilter,
  firstDay: Date | null,
  endDay: Date | null,
): RawBuilder<unknown> {
  const conditions = [
    firstDay === null ? sql`` : sql`and d.day >= ${firstDay.toISOString()}::timestamptz`,
    endDay === null ? sql`` : sql`and d.day < ${endDay.toISOString()}::timestamptz`,
    marketplace === null ? sql`` : sql`and d.marketplace = ${marketplace}`,
    protocol === null ? sql`` : sql`and d.protocol = ${protocol}`,
    currency === null ? sql`` : sql`and d.currency = ${bytea(currency)}`,
  ];
  return sql`(
    select coalesce(sum(d.sales), 0)::bigint from sales.day d
    where d.chain_id = ${chainId} and d.contract_id = any (${contractIds ?? [wholeChain]}::int[]) ${sql.join(conditions, sql` `)}
  )`;
}

function salesBetween(
  filter: SalesFilter,
  since: Date | null,
  until: Date | null,
): RawBuilder<unknown> {
  return sql`(
    select count(*) from sales.sale s
    where s.chain_id = ${filter.chainId} and ${matchesSale(filter)} and ${isWithin({ since, until })}
  )`;
}

import { type RawBuilder, sql } from "kysely";
import { tokensIn } from "../engine/token-ids.ts";
import { blockIdRange } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { anyValue, bytea } from "../log/sql-values.ts";
import {
  chunksWithTraits,
  hasRequestedTraits,
  hasTraits,
  type RequestedTrait,
  type TraitKeys,
} from "../traits/read-tokens-with-traits.ts";
import { type SaleParts, type SaleRow, saleColumns, saleNames } from "./read-sale.ts";
import {
  blocksWithin,
  isFiltered,
  isWithin,
  matchesTrade,
  namesParty,
  newestFirst,
  newestFirstOfFew,
  olderInChain,
  olderThan,
  type SaleKey,
  type SalesFilter,
  type TradeFilter,
  wholeChain,
} from "./read-sale-filter.ts";

type Slice = { limit: number; offset: number; after: SaleKey | null };

/** Sales newest first, and how many the filter matches, of one snapshot. */
export async function readSales(
  db: Database,
  filter: SalesFilter,
  slice: Slice,
  parts?: SaleParts,
): Promise<{ total: bigint; rows: SaleRow[] }> {
  const { rows } = await sql<SaleRow & { total: bigint; blockId: bigint | null }>`
    with ${matching(filter, slice)}
    select counted.total,
           ${saleColumns(parts)}
    from counted left join page s on true ${saleNames}
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc`.execute(db);
  return { total: rows[0]?.total ?? 0n, rows: rows.filter((row) => row.blockId !== null) };
}

/** CTEs `counted` (total) and `page` (rows of sales.sale). When nothing matches the page is not read. */
function matching(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  if (filter.traits.length > 0) return salesWithTraits(filter, slice);
  return sql`counted as materialized (${countOf(filter)}), page as (${pageOf(filter, slice)})`;
}

function pageOf(filter: SalesFilter, slice: Slice): RawBuilder<unknown> {
  const { contractIds, trade } = filter;
  const { limit, offset, after } = slice;
  const matches = sql`
    ${matchesSale({ ...filter, contractIds: null })} and ${isWithin(trade)}
    and ${blocksWithin(filter.chainId, trade, after !== null)} and (select total from counted) > 0`;
  const order = namesFew(filter) ? newestFirstOfFew : newestFirst;
  const first = (where: RawBuilder<unknown>) => sql`
    select s.* from sales.sale s where ${where} and ${matches} ${order} limit ${limit + offset}`;
  const page = sql`${newestFirst} limit ${limit} offset ${offset}`;
  if (namesParty(trade) || contractIds === null) {
    const ofContracts =
      contractIds === null ? sql`` : sql`and s.contract_id = any (${contractIds}::int[])`;
    const where = sql`${olderInChain(filter.chainId, after)} ${ofContracts}`;
    if (namesOnlyMarket(filter)) {
      const rows = first(
        sql`s.marketplace = market.marketplace and s.protocol = market.protocol and ${where}`,
      );
      return sql`select s.* from (${marketsOf(trade)}) market cross join lateral (${rows}) s ${page}`;
    }
    const rows = sidesOf(filter, (isSide) => first(sql`${isSide} and ${where}`));
    return sql`select s.* from (${rows}) s ${page}`;
  }
  // Each contract's own index gives its newest; their union is sorted again.
  const rows = first(sql`s.contract_id = one.contract_id ${olderThan(after)}`);
  return sql`
    select s.* from unnest(${contractIds}::int[]) one (contract_id) cross join lateral (${rows}) s ${page}`;
}

/** Whether sales are found by what has few values alone. */
function namesFew({ contractIds, tokenId, trade }: SalesFilter): boolean {
  const isOfFew = [trade.marketplace, trade.protocol, trade.currency].some((one) => one !== null);
  return isOfFew && !namesParty(trade) && contractIds === null && tokenId === null;
}

/** Whether either a marketplace or a protocol alone says which sales: their index is sorted within each pair of both. */
function namesOnlyMarket(filter: SalesFilter): boolean {
  const { marketplace, protocol, currency } = filter.trade;
  return namesFew(filter) && (marketplace === null) !== (protocol === null) && currency === null;
}

/** SQL: pairs of marketplace and protocol that have sales, a look into the index for each: they are few. */
function marketsOf({ marketplace, protocol }: TradeFilter): RawBuilder<unknown> {
  const next = (after: RawBuilder<unknown>) => sql`
    select s.marketplace, s.protocol from sales.sale s
    where ${after} ${marketplace === null ? sql`` : sql`and s.marketplace = ${marketplace}`}
    order by s.marketplace, s.protocol limit 1`;
  return sql`
    with recursive market as (
      (${next(sql`true`)})
      union all
      select n.* from market m
      cross join lateral (${next(sql`(s.marketplace, s.protocol) > (m.marketplace, m.protocol)`)}) n
    )
    select * from market ${protocol === null ? sql`` : sql`where protocol = ${protocol}`}`;
}

type TraitSalesFilter = {
  chainId: number;
  /** Contracts whose sales are searched; null: the whole chain. */
  contractIds: readonly number[] | null;
  tokenId: bigint | null;
  traitKeys: TraitKeys;
  trade: TradeFilter;
  /** The traits themselves. */
  traits: readonly RequestedTrait[];
};

/**
 * CTEs `counted` (total) and `page` (rows of sales.sale) of the sales of tokens with all the traits. The total comes from
 * bitmaps: of each chunk of ids the tokens with the traits, and the bit-sliced sale counts; with filters of the trade the
 * sales of these tokens are counted.
 */
function salesWithTraits(
  filter: TraitSalesFilter,
  { limit, offset, after }: { limit: number; offset: number; after: SaleKey | null },
): RawBuilder<unknown> {
  const { tokenId, traitKeys, trade } = filter;
  const matches = tradeOf(trade);
  const rowCount = anyValue(limit + offset, "bigint");
  const key = sql`s.block_id, s.transaction_index, s.ordinal`;
  return sql`
    matching as materialized (${chunksWithTraits(traitKeys, tokenId)}),
    sold as materialized (
      select m.contract_id, m.chunk, bit_or(m.bits & p.bits) as bits,
             sum(bit_count(m.bits & p.bits) << p.digit) as sales
      from matching m cross join lateral (
        select p.* from sales.sale_count_bits p where p.contract_id = m.contract_id and p.chunk = m.chunk offset 0
      ) p
      group by 1, 2
    ),
    counted as materialized (
      select ${isFiltered(trade) ? countOfTokens(matches) : sql`coalesce(sum(sales), 0)::bigint`} as total,
             coalesce(sum(bit_count(bits)), 0) as tokens from sold
    ),
    keys as materialized (
      select * from (
        select ${key} from (${tokensIn(sql`sold`)}) t cross join lateral (
          select ${key} from sales.sale s
          where s.contract_id = t.contract_id and s.token_id = t.token_id and ${matches} ${olderThan(after)}
          ${newestFirst} limit ${rowCount}
        ) s where ${hasFewTokens(filter, rowCount)}
        union all
        select ${key} from (${scan(filter, after, rowCount)}) s where not ${hasFewTokens(filter, rowCount)}
      ) s
      ${newestFirst} limit ${anyValue(limit, "bigint")} offset ${anyValue(offset, "bigint")}
    ),
    page as (
      select s.* from keys cross join lateral (
        select s.* from sales.sale s
        where s.block_id = keys.block_id and s.transaction_index = keys.transaction_index
          and s.ordinal = keys.ordinal offset 0
      ) s
    )`;
}

/** SQL: whether sale `s` matches the filters of the trade. */
function tradeOf(trade: TradeFilter): RawBuilder<unknown> {
  const { wallet } = trade;
  const ofWallet = wallet === null ? sql`true` : sql`${bytea(wallet)} in (s.buyer, s.seller)`;
  return sql`${matchesTrade(trade)} and ${isWithin(trade)} and ${ofWallet}`;
}

function countOfTokens(matches: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select count(*) from (${tokensIn(sql`sold`)}) t
    join sales.sale s on s.contract_id = t.contract_id and s.token_id = t.token_id where ${matches}
  )`;
}

/** SQL: the newest matching sales, found by a scan of each contract, or of the chain. */
function scan(
  { chainId, contractIds, tokenId, traitKeys, traits, trade }: TraitSalesFilter,
  after: SaleKey | null,
  rowCount: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const ofToken = tokenId === null ? sql`` : sql`and s.token_id = ${anyValue(tokenId, "numeric")}`;
  if (contractIds === null) {
    return sql`
      select s.* from sales.sale s
      where ${olderInChain(chainId, after)} ${ofToken} and ${tradeOf(trade)}
        and ${hasRequestedTraits("s", traits)}
      ${newestFirst} limit ${rowCount}`;
  }
  return sql`
    select s.* from unnest(${anyValue(contractIds, "int[]")}) one (contract_id) cross join lateral (
      select s.* from sales.sale s
      where s.contract_id = one.contract_id ${ofToken} and ${tradeOf(trade)} ${olderThan(after)}
        and ${hasTraits("s", traitKeys)}
      ${newestFirst} limit ${rowCount}
    ) s`;
}

/**
 * Few tokens: the newest sales of each are sorted. Many: a scan over all sales of the contracts or chain finds enough matching ones
 * sooner; checking a token costs as much as two sales.
 */
function hasFewTokens(
  { chainId, contractIds }: TraitSalesFilter,
  rowCount: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select 2 * counted.tokens * counted.total <= ${rowCount} * (
      select coalesce(sum(sales), 0) from sales.total
      where chain_id = ${chainId} and contract_id = any (${anyValue(contractIds ?? [wholeChain], "int[]")}::int[])
    )
    from counted
  )`;
}

/** SQL: how many sales match, of a filter without traits. */
function countOf(filter: SalesFilter): RawBuilder<unknown> {
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
function sidesOf(
  { trade: { wallet } }: SalesFilter,
  make: (condition: RawBuilder<unknown>) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (wallet === null) return make(sql`true`);
  const own = bytea(wallet);
  return sql`
    (${make(sql`s.buyer = ${own}`)}) union all (${make(sql`s.seller = ${own} and s.buyer <> ${own}`)})`;
}

/** SQL: what a filter without a wallet says of sale `s`, apart from its order. */
function matchesSale({ contractIds, tokenId, trade }: SalesFilter): RawBuilder<unknown> {
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

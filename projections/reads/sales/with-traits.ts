import { type RawBuilder, sql } from "kysely";
import { anyValue, bytea } from "#projections/log/sql-values.ts";
import { tokensIn } from "#projections/engine/token-ids.ts";
import { chunksWithTraits, hasRequestedTraits, hasTraits, type RequestedTrait, type TraitKeys } from "../traits/token-bitmaps.ts";
import { newestFirst, olderInChain, olderThan, type SaleKey, wholeChain } from "./order.ts";
import { isFiltered, isWithin, matchesTrade, type TradeFilter } from "./trade-filter.ts";

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
export function salesWithTraits(
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

import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { tokensIn } from "../../sql/token-bits.ts";
import { chunksWithTraits, hasTraits, type TraitKeys } from "../traits/token-bitmaps.ts";
import { newestFirst, olderThan, type SaleKey } from "./order.ts";

type TraitSalesFilter = {
  chainId: number;
  contractIds: readonly number[];
  tokenId: bigint | null;
  traitKeys: TraitKeys;
};

/**
 * CTEs `counted` (total) and `page` (rows of sales.sale) of the sales of tokens with all the traits. The total comes from
 * bitmaps: of each chunk of ids the tokens with the traits, and the bit-sliced sale counts.
 */
export function salesWithTraits(
  filter: TraitSalesFilter,
  { limit, offset, after }: { limit: number; offset: number; after: SaleKey | null },
): RawBuilder<unknown> {
  const { contractIds, tokenId, traitKeys } = filter;
  const rowCount = anyValue(limit + offset, "bigint");
  const key = sql`s.block_id, s.transaction_index, s.ordinal`;
  const ofToken = tokenId === null ? sql`` : sql`and s.token_id = ${anyValue(tokenId, "numeric")}`;
  return sql`
    matching as materialized (${chunksWithTraits(contractIds, traitKeys, tokenId)}),
    sold as materialized (
      select m.contract_id, m.chunk, bit_or(m.bits & p.bits) as bits,
             sum(bit_count(m.bits & p.bits) << p.digit) as sales
      from matching m cross join lateral (
        select p.* from sales.sale_count_bits p where p.contract_id = m.contract_id and p.chunk = m.chunk offset 0
      ) p
      group by 1, 2
    ),
    counted as materialized (
      select coalesce(sum(sales), 0)::bigint as total, coalesce(sum(bit_count(bits)), 0) as tokens from sold
    ),
    keys as materialized (
      select * from (
        select ${key} from (${tokensIn(sql`sold`)}) t cross join lateral (
          select ${key} from sales.sale s
          where s.contract_id = t.contract_id and s.token_id = t.token_id ${olderThan(after)}
          ${newestFirst} limit ${rowCount}
        ) s where ${hasFewTokens(filter, rowCount)}
        union all
        select ${key} from unnest(${anyValue(contractIds, "int[]")}) one (contract_id) cross join lateral (
          select ${key} from sales.sale s
          where s.contract_id = one.contract_id ${ofToken} ${olderThan(after)} and ${hasTraits("s", traitKeys)}
          ${newestFirst} limit ${rowCount}
        ) s where not ${hasFewTokens(filter, rowCount)}
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

/**
 * Few tokens: the newest sales of each are sorted. Many: a scan over all sales of the contracts finds enough matching ones
 * sooner; checking a token costs as much as two sales.
 */
function hasFewTokens(
  { chainId, contractIds }: TraitSalesFilter,
  rowCount: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select 2 * counted.tokens * counted.total <= ${rowCount} * (
      select coalesce(sum(sales), 0) from sales.total
      where chain_id = ${chainId} and contract_id = any (${anyValue(contractIds, "int[]")}::int[])
    )
    from counted
  )`;
}

import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { tokensIn } from "../../sql/token-bits.ts";
import { chunksWithTraits, hasTraits, type TraitKeys } from "../traits/token-bitmaps.ts";
import { newestFirst, olderThan, type SaleKey } from "./order.ts";

type Asked = {
  chainId: number;
  contractIds: readonly number[];
  tokenId: bigint | null;
  traitKeys: TraitKeys;
};

/**
 * CTEs `counted` (total) and `page` (rows of sales.sale) of the sales of tokens with all the traits. How many there are is
 * read off bits: of each chunk of ids those with the traits, and the binary digits of what each has been sold.
 */
export function salesWithTraits(
  asked: Asked,
  { limit, offset, after }: { limit: number; offset: number; after: SaleKey | null },
): RawBuilder<unknown> {
  const { contractIds, tokenId, traitKeys } = asked;
  const wanted = anyValue(limit + offset, "bigint");
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
    place as materialized (
      select * from (
        select ${key} from (${tokensIn(sql`sold`)}) t cross join lateral (
          select ${key} from sales.sale s
          where s.contract_id = t.contract_id and s.token_id = t.token_id ${olderThan(after)}
          ${newestFirst} limit ${wanted}
        ) s where ${areFew(asked, wanted)}
        union all
        select ${key} from unnest(${anyValue(contractIds, "int[]")}) wanted (contract_id) cross join lateral (
          select ${key} from sales.sale s
          where s.contract_id = wanted.contract_id ${ofToken} ${olderThan(after)} and ${hasTraits("s", traitKeys)}
          ${newestFirst} limit ${wanted}
        ) s where not ${areFew(asked, wanted)}
      ) s
      ${newestFirst} limit ${anyValue(limit, "bigint")} offset ${anyValue(offset, "bigint")}
    ),
    page as (
      select s.* from place cross join lateral (
        select s.* from sales.sale s
        where s.block_id = place.block_id and s.transaction_index = place.transaction_index
          and s.ordinal = place.ordinal offset 0
      ) s
    )`;
}

/**
 * Of few tokens the newest sales of each are sorted. Of many, a walk over all sales of the contracts meets enough of
 * theirs sooner: a look at a token costs as much as at two sales.
 */
function areFew({ chainId, contractIds }: Asked, wanted: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select 2 * counted.tokens * counted.total <= ${wanted} * (
      select coalesce(sum(sales), 0) from sales.total
      where chain_id = ${chainId} and contract_id = any (${anyValue(contractIds, "int[]")}::int[])
    )
    from counted
  )`;
}

import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../../sql/any-value.ts";
import { bitOf, bitsOf, chunkOf, firstOf, noBits } from "../../sql/token-bits.ts";

/** Keys of each trait that a token must have, any of them. */
export type TraitKeys = readonly (readonly string[])[];

/** Rows `(contract_id, chunk, bits)` of the tokens with all the traits, or of one of them. */
export function chunksHaving(
  contractIds: readonly number[],
  traitKeys: TraitKeys,
  tokenId: bigint | null = null,
): RawBuilder<unknown> {
  const ords = traitKeys.flatMap((keys, ord) => keys.map(() => ord));
  const id = anyValue(String(tokenId), "numeric");
  const [ofToken, only] =
    tokenId === null ? [sql``, sql``] : [sql`and m.chunk = ${chunkOf(id)}`, sql`& ${bitsOf(id)}`];
  return sql`
    select contract_id, chunk, bit_and(bits) ${only} as bits
    from (
      select m.contract_id, m.chunk, asked.ord, bit_or(m.bits) as bits
      from unnest(${anyValue(traitKeys.flat(), "uuid[]")}, ${anyValue(ords, "int[]")}) asked (trait_key, ord)
      cross join lateral (
        select m.* from traits.member m
        where m.contract_id = any (${anyValue(contractIds, "int[]")}::int[]) and m.trait_key = asked.trait_key ${ofToken} offset 0
      ) m
      group by 1, 2, 3
    ) trait
    group by 1, 2 having count(*) = ${traitKeys.length}`;
}

/** Rows of sales, tokens, listings and ranks, by their aliases. */
type Row = "s" | "t" | "l" | "r";

/**
 * Rows `(contract_id, first, last, bits)` of `chunks` (contract_id, chunk, bits): all bits of a contract in one string,
 * where a walk finds a token's at once. The ids must not lie far apart.
 */
export function runsOf(chunks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select contract_id, ${firstOf(sql`min(chunk)`)} as first, ${firstOf(sql`max(chunk) + 1`)} - 1 as last,
           string_agg(repeat(${noBits}::text, missing) || bits::text, '' order by chunk)::varbit as bits
    from (
      select *, coalesce(chunk - 1 - lag(chunk) over (partition by contract_id order by chunk), 0)::int as missing
      from ${chunks}
    ) placed
    group by contract_id`;
}

/**
 * Whether the token of a row is in one of the runs `run`. A family of one contract has one run at most, which is taken
 * out once; others are looked up for each row.
 */
export function isInRun(row: Row, contractIds: readonly number[]): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  if (contractIds.length === 1) {
    const [first, last, bits] = ["first", "last", "bits"].map(
      (column) => sql`(select run.${sql.id(column)} from run)`,
    );
    return sql`
      1 = case when ${tokenId} between ${first} and ${last} then get_bit(${bits}, (${tokenId} - ${first})::int) end`;
  }
  return sql`1 = (
    select get_bit(run.bits, (${tokenId} - run.first)::int) from run
    where run.contract_id = ${contractId} and ${tokenId} between run.first and run.last
  )`;
}

/** Whether the token of a row has all the traits: for walks that need few tokens. */
export function hasAll(row: Row, traitKeys: TraitKeys): RawBuilder<unknown> {
  const [contractId, tokenId] = [sql.ref(`${row}.contract_id`), sql.ref(`${row}.token_id`)];
  const each = traitKeys.map(
    (keys) => sql`exists (
      select from traits.member m
      where m.contract_id = ${contractId} and m.trait_key = any (${anyValue(keys, "uuid[]")}::uuid[])
        and m.chunk = ${chunkOf(tokenId)} and ${bitOf(sql`m.bits`, tokenId)} = 1 offset 0
    )`,
  );
  return each.length === 0 ? sql`true` : sql.join(each, sql` and `);
}

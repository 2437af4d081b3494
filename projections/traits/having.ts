import { type RawBuilder, sql } from "kysely";
import { anyValue } from "../any-value.ts";
import { bitOf, bitsOf, chunkOf } from "../token-bits.ts";

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

/** Whether the token of a row has all the traits: for walks that need few tokens. */
export function hasAll(row: "s" | "t" | "l" | "r", traitKeys: TraitKeys): RawBuilder<unknown> {
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

import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { bitsOf, chunkOf, emptyBits } from "../engine/token-ids.ts";
import { changedToken } from "./derive-tokens.ts";

/** Flips the bits of tokens that gained or lost a trait; the bit of a trait that a token keeps flips twice. */
export async function flipTokenBits(session: Session, schema: string): Promise<void> {
  const bitmap = sql.table(`${schema}.token_bitmap`);
  const ofRow = (one: string) => sql`
    ${sql.ref(`${one}.contract_id`)} = m.contract_id and ${sql.ref(`${one}.trait_key`)} = m.trait_key
    and ${sql.ref(`${one}.chunk`)} = m.chunk`;
  await sql`
    with changed as materialized (
      select m.contract_id, m.trait_key, m.chunk, coalesce(b.bits, ${emptyBits}) # m.flips as bits
      from (
        select contract_id, trait_key, ${chunkOf(sql`token_id`)} as chunk, bit_xor(${bitsOf(sql`token_id`)}) as flips
        from (
          select contract_id, token_id, u.trait_key from ${changedToken} cross join unnest(old_keys) u (trait_key)
          union all
          select contract_id, token_id, u.trait_key from ${changedToken} cross join unnest(trait_keys) u (trait_key)
        ) leg
        group by 1, 2, 3 having bit_xor(${bitsOf(sql`token_id`)}) <> ${emptyBits}
      ) m
      left join lateral (select b.bits from ${bitmap} b where ${ofRow("b")} offset 0) b on true
    ), emptied as (
      delete from ${bitmap} b using changed m where m.bits = ${emptyBits} and ${ofRow("b")}
    )
    insert into ${bitmap} (contract_id, trait_key, chunk, bits)
    select contract_id, trait_key, chunk, bits from changed where bits <> ${emptyBits}
    on conflict (contract_id, trait_key, chunk) do update set bits = excluded.bits`.execute(
    session,
  );
}

/** Fills the empty table from the tokens, in the order in which it is read. */
export async function deriveAllTokenBitmaps(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.token_bitmap`)} (contract_id, trait_key, chunk, bits)
    select contract_id, u.trait_key, ${chunkOf(sql`token_id`)}, bit_or(${bitsOf(sql`token_id`)})
    from ${sql.table(`${schema}.token`)} cross join unnest(trait_keys) u (trait_key)
    group by 1, 2, 3 order by 1, 2, 3`.execute(session);
}

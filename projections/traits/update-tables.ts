import { type RawBuilder, sql } from "kysely";
import { bitsOf, chunkOf, emptyBits } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { changedToken, parsedTrait } from "./derive-tokens.ts";

/** Writes the tokens that differ, and adds the differences to the counters. */
export async function updateTables(
  session: Session,
  schema: string,
  { traitsMayChange }: { traitsMayChange: boolean },
): Promise<void> {
  if (traitsMayChange) {
    await updateTokens(session, sql.table(`${schema}.token`));
    await flipTokenBits(session, schema);
  }
  await updateListedTokens(session, sql.table(`${schema}.listed_token`));
  await updateListedTokenTraits(session, sql.table(`${schema}.listed_token_trait`));
  await updateTraits(session, schema);
  await updateContracts(session, sql.table(`${schema}.contract`));
}

async function updateTokens(session: Session, token: RawBuilder<unknown>): Promise<void> {
  await sql`
    with removed as (
      delete from ${token} t using ${changedToken} c
      where c.trait_keys is null and c.old_keys is not null
        and t.contract_id = c.contract_id and t.token_id = c.token_id
    )
    insert into ${token} (contract_id, token_id, trait_keys, is_live)
    select contract_id, token_id, trait_keys, is_live from ${changedToken}
    where trait_keys is not null and (trait_keys, is_live) is distinct from (old_keys, old_live)
    on conflict (contract_id, token_id) do update
    set trait_keys = excluded.trait_keys, is_live = excluded.is_live`.execute(session);
}

async function updateListedTokens(session: Session, listed: RawBuilder<unknown>): Promise<void> {
  await sql`
    with removed as (
      delete from ${listed} t using ${changedToken} c
      where c.unit_price_wei is null and c.old_price is not null
        and t.contract_id = c.contract_id and t.token_id = c.token_id
    )
    insert into ${listed} (contract_id, token_id, standard, order_hash, unit_price_wei, position, listed_at)
    select contract_id, token_id, standard, order_hash, unit_price_wei, position, listed_at from ${changedToken}
    where unit_price_wei is not null
      and (standard, order_hash, unit_price_wei, position, listed_at)
          is distinct from (old_standard, old_hash, old_price, old_position, old_at)
    on conflict (contract_id, token_id) do update
    set standard = excluded.standard, order_hash = excluded.order_hash, unit_price_wei = excluded.unit_price_wei,
        position = excluded.position, listed_at = excluded.listed_at`.execute(session);
}

/** SQL: a row for each trait of a listed token, before and after. */
const listedBefore = sql`
  select contract_id, u.trait_key, old_price as unit_price_wei, old_position as position, token_id
  from ${changedToken} cross join unnest(old_keys) u (trait_key) where old_price is not null`;
const listedAfter = sql`
  select contract_id, u.trait_key, unit_price_wei, position, token_id
  from ${changedToken} cross join unnest(trait_keys) u (trait_key) where unit_price_wei is not null`;

async function updateListedTokenTraits(
  session: Session,
  listedTrait: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    with removed as (
      delete from ${listedTrait} t using (${listedBefore} except ${listedAfter}) c
      where t.contract_id = c.contract_id and t.trait_key = c.trait_key
        and t.unit_price_wei = c.unit_price_wei and t.position = c.position
    )
    insert into ${listedTrait} (contract_id, trait_key, unit_price_wei, position, token_id)
    (${listedAfter} except ${listedBefore})`.execute(session);
}

/** Adds differences to the counters and looks up floors, for traits of tokens that differ. */
async function updateTraits(session: Session, schema: string): Promise<void> {
  const trait = sql.table(`${schema}.trait`);
  await sql`
    with delta as materialized (
      select m.*, v.contract_id is null as is_new, coalesce(v.tokens, 0) + m.tokens as tokens_after, f.*
      from (
        select contract_id, trait_key, sum(tokens) as tokens, sum(live) as live, sum(listed) as listed
        from (
          select contract_id, u.trait_key, 1 as tokens, is_live::int as live,
                 (unit_price_wei is not null)::int as listed
          from ${changedToken} cross join unnest(trait_keys) u (trait_key)
          union all
          select contract_id, u.trait_key, -1, -old_live::int, -(old_price is not null)::int
          from ${changedToken} cross join unnest(old_keys) u (trait_key)
        ) leg
        group by contract_id, trait_key
      ) m
      left join ${trait} v using (contract_id, trait_key)
      left join lateral (
        select l.unit_price_wei as floor_wei, l.position as floor_position, l.token_id as floor_token
        from ${sql.table(`${schema}.listed_token_trait`)} l
        where l.contract_id = m.contract_id and l.trait_key = m.trait_key
        order by l.unit_price_wei, l.position limit 1
      ) f on true
      where v.contract_id is null or (m.tokens, m.live, m.listed) <> (0, 0, 0)
        or (v.floor_wei, v.floor_position) is distinct from (f.floor_wei, f.floor_position)
    ), removed as (
      delete from ${trait} v using delta m
      where m.tokens_after = 0 and v.contract_id = m.contract_id and v.trait_key = m.trait_key
    ), updated as (
      update ${trait} v
      set tokens = v.tokens + m.tokens, live = v.live + m.live, listed = v.listed + m.listed,
          floor_wei = m.floor_wei, floor_position = m.floor_position, floor_token = m.floor_token
      from delta m
      where m.tokens_after <> 0 and not m.is_new
        and v.contract_id = m.contract_id and v.trait_key = m.trait_key
    )
    insert into ${trait} (contract_id, trait_key, match_key, type, type_key, value, is_number, is_numeric,
                          tokens, live, listed, floor_wei, floor_position, floor_token)
    select contract_id, trait_key, n.match_key, n.type, n.type_key, n.value, n.is_number, n.is_numeric,
           m.tokens, m.live, m.listed, m.floor_wei, m.floor_position, m.floor_token
    from delta m
    join (
      select distinct on (contract_id, trait_key) * from ${parsedTrait} order by contract_id, trait_key
    ) n using (contract_id, trait_key)
    where m.is_new`.execute(session);
}

/** SQL: hash of a live token with its traits; sums of it do not depend on the order. */
export function fingerprintOf(
  tokenId: RawBuilder<unknown>,
  traitKeys: RawBuilder<unknown>,
): RawBuilder<bigint> {
  return sql<bigint>`hashtextextended(${tokenId}::text || (${traitKeys})::text, 0)`;
}

async function updateContracts(session: Session, contract: RawBuilder<unknown>): Promise<void> {
  await sql`
    with delta as materialized (
      select m.contract_id, c.contract_id is null as is_new, coalesce(c.tokens, 0) + m.tokens as tokens,
             coalesce(c.live, 0) + m.live as live, coalesce(c.listed, 0) + m.listed as listed,
             coalesce(c.fingerprint, 0) + m.fingerprint as fingerprint
      from (
        select contract_id,
               sum((trait_keys is not null)::int - (old_keys is not null)::int) as tokens,
               sum(coalesce(is_live, false)::int - coalesce(old_live, false)::int) as live,
               sum((unit_price_wei is not null)::int - (old_price is not null)::int) as listed,
               sum(case when is_live then ${fingerprintOf(sql`token_id`, sql`trait_keys`)} else 0 end::numeric
                   - case when old_live then ${fingerprintOf(sql`token_id`, sql`old_keys`)} else 0 end::numeric
               ) as fingerprint
        from ${changedToken} group by contract_id
      ) m
      left join ${contract} c using (contract_id)
    ), removed as (
      delete from ${contract} c using delta m
      where m.tokens = 0 and m.listed = 0 and c.contract_id = m.contract_id
    ), updated as (
      update ${contract} c
      set tokens = m.tokens, live = m.live, listed = m.listed, fingerprint = m.fingerprint
      from delta m where (m.tokens <> 0 or m.listed <> 0) and not m.is_new and c.contract_id = m.contract_id
    )
    insert into ${contract} (contract_id, tokens, live, listed, fingerprint)
    select contract_id, tokens, live, listed, fingerprint from delta
    where is_new and (tokens <> 0 or listed <> 0)`.execute(session);
}

/** Flips the bits of tokens that gained or lost a trait; the bit of a trait that a token keeps flips twice. */
async function flipTokenBits(session: Session, schema: string): Promise<void> {
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

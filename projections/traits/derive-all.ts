import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { cheapestListing, isKnown, isLive } from "./derive-tokens.ts";
import { deriveAllTokenBitmaps } from "./token-bitmaps.ts";
import { traitsOf } from "./trait-keys.ts";
import { fingerprintOf } from "./update-tables.ts";

/** Fills empty tables without indexes. Rows of a contract or trait are stored together, since they are read so. */
export async function deriveAllTraits(session: Session, schema: string): Promise<void> {
  const table = (name: string) => sql.table(`${schema}.${name}`);
  await sql`
    insert into ${table("token")} (contract_id, token_id, trait_keys, is_live)
    select t.contract_id, t.token_id,
           array(select trait_key from (${traitsOf(sql`t.attributes`)}) trait order by ord), ${isLive}
    from metadata.token t join log.contract k using (contract_id)
    where t.status = 'ok' and ${isKnown}`.execute(session);
  await sql`
    insert into ${table("listed_token")} (contract_id, token_id, standard, order_hash, unit_price_wei, position, listed_at)
    select t.contract_id, t.token_id, l.standard, l.order_hash, l.unit_price_wei, l.position, l.listed_at
    from (select distinct contract_id, token_id from listings.listing where status = 'active') t
    cross join lateral (${cheapestListing}) l`.execute(session);
  await sql`
    insert into ${table("listed_token_trait")} (contract_id, trait_key, unit_price_wei, position, token_id)
    select contract_id, u.trait_key, l.unit_price_wei, l.position, token_id
    from ${table("listed_token")} l join ${table("token")} t using (contract_id, token_id)
    cross join unnest(t.trait_keys) u (trait_key)
    order by 1, 2, 3, 4`.execute(session);
  await deriveAllTokenBitmaps(session, schema);
  await deriveAllTraitRows(session, schema);
  await deriveAllContracts(session, schema);
}

/** A key's type and value are looked up in the metadata of one token that has it. */
async function deriveAllTraitRows(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.trait`)}
      (contract_id, trait_key, match_key, type, type_key, value, is_number, is_numeric, tokens, live, listed,
       floor_wei, floor_position, floor_token)
    select v.contract_id, v.trait_key, parsed.match_key, parsed.type, parsed.type_key, parsed.value, parsed.is_number,
           parsed.is_numeric, v.tokens, v.live, coalesce(l.listed, 0), l.unit_price_wei, l.position, l.token_id
    from (
      select contract_id, u.trait_key, count(*) as tokens, count(*) filter (where is_live) as live,
             min(token_id) as example
      from ${sql.table(`${schema}.token`)} cross join unnest(trait_keys) u (trait_key)
      group by contract_id, u.trait_key
    ) v
    left join (
      select distinct on (contract_id, trait_key) contract_id, trait_key, unit_price_wei, position, token_id,
             count(*) over (partition by contract_id, trait_key) as listed
      from ${sql.table(`${schema}.listed_token_trait`)}
      order by contract_id, trait_key, unit_price_wei, position
    ) l using (contract_id, trait_key)
    join log.contract k using (contract_id)
    join metadata.token m on m.contract_id = v.contract_id and m.token_id = v.example
    cross join lateral (
      select * from (${traitsOf(sql`m.attributes`)}) trait where trait.trait_key = v.trait_key
    ) parsed
    order by 1, 2`.execute(session);
}

async function deriveAllContracts(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.contract`)} (contract_id, tokens, live, listed, fingerprint)
    select contract_id, coalesce(t.tokens, 0), coalesce(t.live, 0), coalesce(l.listed, 0), coalesce(t.fingerprint, 0)
    from (
      select contract_id, count(*) as tokens, count(*) filter (where is_live) as live,
             sum(case when is_live then ${fingerprintOf(sql`token_id`, sql`trait_keys`)} else 0 end::numeric) as fingerprint
      from ${sql.table(`${schema}.token`)} group by contract_id
    ) t
    full join (
      select contract_id, count(*) as listed from ${sql.table(`${schema}.listed_token`)} group by contract_id
    ) l using (contract_id)`.execute(session);
}

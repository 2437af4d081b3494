import { sql } from "kysely";
import type { Session } from "../database.ts";

/** Where a tick notes by how much its counters move, until both standards are done. */
export async function openChanges(session: Session): Promise<void> {
  await sql`
    create temporary table if not exists holding_change (contract_id integer, owner bytea, ids bigint)
    on commit delete rows`.execute(session);
  await sql`
    create temporary table if not exists collection_change (
      contract_id integer, erc721_tokens bigint default 0, tokens bigint default 0, supply bigint default 0,
      units numeric default 0, holders bigint default 0
    ) on commit delete rows`.execute(session);
  await sql`delete from holding_change`.execute(session);
  await sql`delete from collection_change`.execute(session);
}

/** How many ids each address holds, and from that how many holders a contract has. */
export async function storeHolders(session: Session, schema: string): Promise<void> {
  await sql`
    with changed as materialized (
      select d.contract_id, d.owner, coalesce(h.tokens, 0) as before, coalesce(h.tokens, 0) + d.ids as after
      from (
        select contract_id, owner, sum(ids) as ids from holding_change
        group by contract_id, owner having sum(ids) <> 0
      ) d
      left join ${sql.table(`${schema}.holder`)} h using (contract_id, owner)
    ), removed as (
      delete from ${sql.table(`${schema}.holder`)} h using changed c
      where c.after = 0 and h.contract_id = c.contract_id and h.owner = c.owner
    ), stored as (
      insert into ${sql.table(`${schema}.holder`)} (contract_id, owner, tokens)
      select contract_id, owner, after from changed where after <> 0
      on conflict (contract_id, owner) do update set tokens = excluded.tokens
    )
    insert into collection_change (contract_id, holders)
    select contract_id, sum((after > 0)::int - (before > 0)::int) from changed group by contract_id
  `.execute(session);
}

export async function storeCollections(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.collection`)} as c
      (contract_id, erc721_tokens, tokens, supply, units, holders)
    select contract_id, sum(erc721_tokens), sum(tokens), sum(supply), sum(units), sum(holders)
    from collection_change group by contract_id
    on conflict (contract_id) do update
      set erc721_tokens = c.erc721_tokens + excluded.erc721_tokens, tokens = c.tokens + excluded.tokens,
          supply = c.supply + excluded.supply, units = c.units + excluded.units,
          holders = c.holders + excluded.holders`.execute(session);
  await sql`
    delete from ${sql.table(`${schema}.collection`)} c using (select distinct contract_id from collection_change) d
    where c.contract_id = d.contract_id and c.tokens = 0`.execute(session);
}

import { sql } from "kysely";
import type { Session } from "../database.ts";
import { openScratches } from "../engine/scratch.ts";

/** Where a tick notes by how much its counters move, until both standards are done. */
export async function openChanges(session: Session): Promise<void> {
  await openScratches(session, {
    holding_change: "contract_id integer, owner bytea, ids integer",
    collection_change: `
      contract_id integer, erc721_tokens bigint default 0, tokens bigint default 0, supply bigint default 0,
      units numeric default 0, holders bigint default 0`,
  });
  await sql`with holdings as (delete from holding_change) delete from collection_change`.execute(
    session,
  );
}

/** How many ids each address holds, and from that how many holders a contract has. */
export async function storeHolders(session: Session, schema: string): Promise<void> {
  await sql`
    with changed as materialized (
      select d.contract_id, d.owner, h.tokens is null as is_new, coalesce(h.tokens, 0) as before,
             coalesce(h.tokens, 0) + d.ids as after
      from (
        select contract_id, owner, sum(ids) as ids from holding_change
        group by contract_id, owner having sum(ids) <> 0
      ) d
      left join ${sql.table(`${schema}.holder`)} h using (contract_id, owner)
    ), removed as (
      delete from ${sql.table(`${schema}.holder`)} h using changed c
      where c.after = 0 and h.contract_id = c.contract_id and h.owner = c.owner
    ), stored as (
      update ${sql.table(`${schema}.holder`)} h set tokens = c.after from changed c
      where c.after <> 0 and not c.is_new and h.contract_id = c.contract_id and h.owner = c.owner
    ), found as (
      insert into ${sql.table(`${schema}.holder`)} (contract_id, owner, tokens)
      select contract_id, owner, after from changed where is_new
    )
    insert into collection_change (contract_id, holders)
    select contract_id, sum((after > 0)::int - (before > 0)::int) from changed group by contract_id
  `.execute(session);
}

/** A contract's row goes with its last token; one whose counters stay as they are is left alone. */
export async function storeCollections(session: Session, schema: string): Promise<void> {
  const collection = sql.table(`${schema}.collection`);
  await sql`
    with moved as materialized (
      select d.*, c.tokens is null as is_new, coalesce(c.tokens, 0) + d.tokens = 0 as is_gone
      from (
        select contract_id, sum(erc721_tokens) as erc721_tokens, sum(tokens) as tokens, sum(supply) as supply,
               sum(units) as units, sum(holders) as holders
        from collection_change group by contract_id
        having (sum(erc721_tokens), sum(tokens), sum(supply), sum(units), sum(holders)) <> (0, 0, 0, 0, 0)
      ) d
      left join lateral (
        select c.tokens from ${collection} c where c.contract_id = d.contract_id offset 0
      ) c on true
    ), removed as (
      delete from ${collection} c using moved m where m.is_gone and c.contract_id = m.contract_id
    ), stored as (
      update ${collection} c
      set erc721_tokens = c.erc721_tokens + m.erc721_tokens, tokens = c.tokens + m.tokens,
          supply = c.supply + m.supply, units = c.units + m.units, holders = c.holders + m.holders
      from moved m
      where not m.is_new and not m.is_gone and c.contract_id = m.contract_id
    )
    insert into ${collection} (contract_id, erc721_tokens, tokens, supply, units, holders)
    select contract_id, erc721_tokens, tokens, supply, units, holders from moved where is_new and not is_gone`.execute(
    session,
  );
}

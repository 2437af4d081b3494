import { sql } from "kysely";
import { openScratchTables } from "../engine/scratch.ts";
import type { Session } from "../log/database.ts";

/** Session tables that sum up by how much the counters of both standards change in a window. */
export const holderDelta = sql`pg_temp.holder_delta`;
export const collectionDelta = sql`pg_temp.collection_delta`;

/** Session table of ids whose first ERC-1155 transfer came in a window (`is_units`), or whose last one left. */
export const shiftedToken = sql`pg_temp.shifted_token`;

/** Session tables of the ERC-1155 ids that a window changes, and by how much their supply and unlogged units change. */
export const movedUnits = sql`pg_temp.moved_units`;
export const unitDelta = sql`pg_temp.unit_delta`;

/** Session table of tokens of a range whose row in `token` came or went in a window. */
export const movedInRange = sql`pg_temp.moved_in_range`;

/** Makes the tables, empty. */
export async function openCounterDeltas(session: Session): Promise<void> {
  await openScratchTables(session, {
    holder_delta: "contract_id integer, owner bytea, ids numeric",
    moved_in_range: "contract_id integer, token_id numeric(78,0)",
    shifted_token: "contract_id integer, token_id numeric(78,0), is_units boolean",
    moved_units: `
      contract_id integer, token_id numeric(78,0), from_block bigint, transfers bigint, burned numeric,
      last_block_id bigint, last_log_index integer`,
    unit_delta: "contract_id integer, token_id numeric(78,0), supply numeric, unlogged numeric",
    collection_delta: `
      contract_id integer, erc721_tokens numeric default 0, tokens numeric default 0, supply numeric default 0,
      units numeric default 0, holders bigint default 0`,
  });
  await sql`
    with holders as (delete from ${holderDelta}), moved as (delete from ${movedInRange}),
         shifted as (delete from ${shiftedToken}), units as (delete from ${movedUnits}), supplies as (delete from ${unitDelta})
    delete from ${collectionDelta}`.execute(session);
}

/** Updates how many ids each address holds, and from that the holders of a contract. */
export async function storeHolders(session: Session, schema: string): Promise<void> {
  await sql`
    with changed as materialized (
      select d.contract_id, d.owner, h.tokens is null as is_new, coalesce(h.tokens, 0) as before,
             coalesce(h.tokens, 0) + d.ids as after
      from (
        select contract_id, owner, sum(ids) as ids from ${holderDelta}
        group by contract_id, owner having sum(ids) <> 0
      ) d
      left join ${sql.table(`${schema}.holder`)} h using (contract_id, owner)
    ), deleted as (
      delete from ${sql.table(`${schema}.holder`)} h using changed c
      where c.after = 0 and h.contract_id = c.contract_id and h.owner = c.owner
    ), updated as (
      update ${sql.table(`${schema}.holder`)} h set tokens = c.after from changed c
      where c.after <> 0 and not c.is_new and h.contract_id = c.contract_id and h.owner = c.owner
    ), inserted as (
      insert into ${sql.table(`${schema}.holder`)} (contract_id, owner, tokens)
      select contract_id, owner, after from changed where is_new
    )
    insert into ${collectionDelta} (contract_id, holders)
    select contract_id, sum((after > 0)::int - (before > 0)::int) from changed group by contract_id
  `.execute(session);
}

/** Updates the contracts whose counters change. A contract without tokens has no row. */
export async function storeCollections(session: Session, schema: string): Promise<void> {
  const collection = sql.table(`${schema}.collection`);
  await sql`
    with delta as materialized (
      select d.*, c.tokens is null as is_new, coalesce(c.tokens, 0) + d.tokens = 0 as is_empty
      from (
        select contract_id, sum(erc721_tokens) as erc721_tokens, sum(tokens) as tokens, sum(supply) as supply,
               sum(units) as units, sum(holders) as holders
        from ${collectionDelta} group by contract_id
        having (sum(erc721_tokens), sum(tokens), sum(supply), sum(units), sum(holders)) <> (0, 0, 0, 0, 0)
      ) d
      left join lateral (
        select c.tokens from ${collection} c where c.contract_id = d.contract_id offset 0
      ) c on true
    ), deleted as (
      delete from ${collection} c using delta m where m.is_empty and c.contract_id = m.contract_id
    ), updated as (
      update ${collection} c
      set erc721_tokens = c.erc721_tokens + m.erc721_tokens, tokens = c.tokens + m.tokens,
          supply = c.supply + m.supply, units = c.units + m.units, holders = c.holders + m.holders
      from delta m
      where not m.is_new and not m.is_empty and c.contract_id = m.contract_id
    )
    insert into ${collection} (contract_id, erc721_tokens, tokens, supply, units, holders)
    select contract_id, erc721_tokens, tokens, supply, units, holders from delta where is_new and not is_empty`.execute(
    session,
  );
}

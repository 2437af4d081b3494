import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { zeroAddress } from "../log/sql-values.ts";
import { rangedAreas } from "../engine/token-ids.ts";

/** SQL: whether the contract still knows the token: it is not burned, or lies at 0x…dead. */
export function mayHaveUri(token: "o" | "same"): RawBuilder<boolean> {
  const [isBurned, owner] = [sql.ref(`${token}.is_burned`), sql.ref(`${token}.owner`)];
  return sql<boolean>`(not ${isBurned} or coalesce(${owner} <> ${zeroAddress}, false))`;
}

/** Updates the lists of what was never fetched: tokens that their contract knows, and contracts with tokens. */
export async function derivePending(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const pending = sql.table(`${schema}.pending_token`);
  const token = sql.table(`${schema}.token`);
  // One list with what becomes of each: two lists, whose lengths the planner cannot know, it may compare row by row.
  await sql`
    with affected as materialized (
      select k.chain_id, d.contract_id, d.token_id, exists (
               select from ownership.token o
               where o.contract_id = d.contract_id and o.token_id = d.token_id and ${mayHaveUri("o")}
             ) and not exists (
               select from ${token} t where t.contract_id = d.contract_id and t.token_id = d.token_id
             ) as is_pending
      from (select distinct contract_id, token_id from (${affectedTokens(window, pending)}) d) d
      join log.contract k using (contract_id)
    ), removed as (
      delete from ${pending} p using affected d
      where p.chain_id = d.chain_id and p.contract_id = d.contract_id and p.token_id = d.token_id and not d.is_pending
    )
    insert into ${pending} (chain_id, contract_id, token_id)
    select chain_id, contract_id, token_id from affected where is_pending on conflict do nothing`.execute(
    session,
  );
  await deriveContracts(session, schema, window);
}

/** SQL: of a range, which may be of any length, only tokens with a row of their own, now or before. */
function affectedTokens(window: FactWindow, pending: RawBuilder<unknown>): RawBuilder<unknown> {
  const isOfRange = sql`
    t.contract_id = area.contract_id and t.token_id >= area.first_id and t.token_id < area.end_id`;
  return sql`
    select contract_id, token_id from ${window.changes} where kind in ${kindList("erc721_transfer", "erc1155_transfer", "token_metadata_fetched")}
    union all
    select area.contract_id, known.token_id
    from (${rangedAreas(window.changes)}) area join log.contract k using (contract_id)
    cross join lateral (
      select t.token_id from ownership.token t where ${isOfRange}
      union all
      select t.token_id from ${pending} t where t.chain_id = k.chain_id and ${isOfRange}
      offset 0
    ) known`;
}

async function deriveContracts(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const pending = sql.table(`${schema}.pending_contract`);
  await sql`
    with affected as materialized (
      select k.chain_id, d.contract_id
      from (
        select distinct contract_id from ${window.changes} where kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer", "contract_metadata_fetched")}
      ) d
      join log.contract k using (contract_id)
    ), still_pending as materialized (
      select d.* from affected d join ownership.collection o using (contract_id)
      where not exists (
        select from ${sql.table(`${schema}.contract`)} c where c.contract_id = d.contract_id
      )
    ), removed as (
      delete from ${pending} p using affected d
      where p.chain_id = d.chain_id and p.contract_id = d.contract_id
        and not exists (select from still_pending a where a.contract_id = d.contract_id)
    )
    insert into ${pending} (chain_id, contract_id)
    select chain_id, contract_id from still_pending on conflict do nothing`.execute(session);
}

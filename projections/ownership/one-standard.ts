import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { noteTokens, restoredTokens } from "./apply-token-ranges.ts";
import { movedInRange, shiftedToken } from "./counters.ts";

/**
 * An id that ERC-1155 transfers have moved is an ERC-1155 id: what the contract says of it by ERC-721 events does not
 * count, since both tell of the same units. With the first such transfer the owner's row goes, with the last one it is
 * back.
 */
export async function applyStandards(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const table = (name: string) => sql.table(`${schema}.${name}`);
  const isShifted = sql`t.contract_id = s.contract_id and t.token_id = s.token_id`;
  const replaced = sql`
    delete from ${table("token")} t using ${shiftedToken} s where s.is_units and ${isShifted} and t.standard = 721`;
  await noteTokens(session, sql`-1`, replaced);
  const left = sql`select contract_id, token_id as first_id, token_id + 1 as end_id from ${shiftedToken} where not is_units`;
  await noteTokens(session, sql`1`, restoredTokens(schema, window, sql`(${left}) area`));
  await sql`
    insert into ${movedInRange} (contract_id, token_id)
    select s.contract_id, s.token_id from ${shiftedToken} s
    cross join lateral (
      select r.last_id from ${table("last_range")} r
      where r.contract_id = s.contract_id and r.first_id <= s.token_id
      order by r.first_id desc limit 1
    ) r
    where r.last_id >= s.token_id`.execute(session);
}

/** SQL: whether a token `of` has no ERC-1155 row now, and had none before the window. */
export function isOwned(schema: string, of: RawBuilder<unknown>): RawBuilder<boolean> {
  const isSame = (one: RawBuilder<unknown>) =>
    sql`${one}.contract_id = ${of}.contract_id and ${one}.token_id = ${of}.token_id`;
  return sql<boolean>`(
    not exists (
      select from ${sql.table(`${schema}.token`)} many where ${isSame(sql`many`)} and many.standard = 1155 offset 0
    ) and not exists (select from ${shiftedToken} shifted where ${isSame(sql`shifted`)})
  )`;
}

import { type RawBuilder, sql } from "kysely";
import type { FactWindow } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { isBurnAddress } from "../log/sql-values.ts";
import { noteTokens, restoredTokens } from "./apply-ranges.ts";
import { collectionDelta, holderDelta, movedInRange, shiftedToken } from "./counters.ts";

/**
 * An ERC-721 token's owner is the receiver of its last transfer in chain order. Where that is a single one, its row
 * stores the transfer's block and log index: an earlier transfer changes nothing, a later one replaces it. So only the
 * last transfer of a token in the window matters, and the log is read only when the row's own transfer is no longer
 * effective. Transfers before the token's last range, which is stored already, change nothing.
 */
export async function applyErc721(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const token = sql.table(`${schema}.token`);
  await sql`
    with last_change as materialized (
      select distinct on (contract_id, token_id) contract_id, token_id, weight, to_address, block_id, log_index
      from ${window.changes} where kind = ${kindLiteral("erc721_transfer")}
      order by contract_id, token_id, block_id desc, log_index desc
    ), changed as materialized (
      select u.contract_id, u.token_id, d.to_address as owner, d.block_id, d.log_index,
             ${isBurnAddress(sql`d.to_address`)} as is_burned, u.is_new, u.old_owner, u.old_burned, u.range_block_id
      from (
        select m.*, t.standard is null as is_new, t.owner as old_owner, t.is_burned as old_burned,
               r.block_id as range_block_id, r.log_index as range_log_index
        from last_change m
        left join ${token} t on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 721
        left join lateral (${lastRange(schema)}) r on r.last_id >= m.token_id
        where ${isOwned(schema, sql`m`)} and case
            when m.weight < 0 then (m.block_id, m.log_index) = (t.block_id, t.log_index)
            else (t.standard is null or (m.block_id, m.log_index) > (t.block_id, t.log_index))
                 and (r.block_id is null or (m.block_id, m.log_index) > (r.block_id, r.log_index))
          end
        offset 0
      ) u
      left join lateral (
        select u.to_address, u.block_id, u.log_index where u.weight > 0
        union all
        select * from (${lastTransfer(window)}) before
        where u.weight < 0
          and (u.range_block_id is null or (before.block_id, before.log_index) > (u.range_block_id, u.range_log_index))
      ) d on true
    ), deleted as (
      delete from ${token} t using changed c
      where c.owner is null and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 721
    ), updated as (
      update ${token} t
      set owner = c.owner, supply = case when c.is_burned then 0 else 1 end, is_burned = c.is_burned,
          block_id = c.block_id, log_index = c.log_index
      from changed c
      where c.owner is not null and not c.is_new
        and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 721
    ), inserted as (
      insert into ${token} (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
      select contract_id, token_id, 721, owner, case when is_burned then 0 else 1 end, is_burned, block_id, log_index
      from changed where is_new
    ), noted_ranges as (
      insert into ${movedInRange}
      select contract_id, token_id from changed where range_block_id is not null and (is_new or owner is null)
    ), noted_holders as (
      insert into ${holderDelta} (contract_id, owner, ids)
      select contract_id, old_owner, -1 from changed where not old_burned
      union all
      select contract_id, owner, 1 from changed where not is_burned
    )
    insert into ${collectionDelta} (contract_id, erc721_tokens, tokens, supply, units)
    select contract_id, sum(tokens), sum(tokens), sum(supply), sum(supply)
    from (
      select contract_id, (owner is not null)::int - (old_owner is not null)::int as tokens,
             (owner is not null and not is_burned)::int - (old_owner is not null and not old_burned)::int as supply
      from changed
    ) counted
    group by contract_id`.execute(session);
}

/** The last effective range of the token of `m`, or one that ends before it. */
function lastRange(schema: string): RawBuilder<unknown> {
  return sql`
    select r.last_id, r.block_id, r.log_index from ${sql.table(`${schema}.last_range`)} r
    where r.contract_id = m.contract_id and r.first_id <= m.token_id
    order by r.first_id desc limit 1`;
}

/** The last effective single transfer of the token of `u`. */
function lastTransfer(window: FactWindow): RawBuilder<unknown> {
  return sql`
    select f.to_address, f.block_id, f.log_index from ${window.facts} f
    where f.kind = ${kindLiteral("erc721_transfer")} and f.contract_id = u.contract_id and f.token_id = u.token_id
      and f.position <= ${window.upTo} and f.block_id not in (select block_id from ${window.retractedBlocks})
    order by f.block_id desc, f.log_index desc limit 1`;
}

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
function isOwned(schema: string, of: RawBuilder<unknown>): RawBuilder<boolean> {
  const isSame = (one: RawBuilder<unknown>) =>
    sql`${one}.contract_id = ${of}.contract_id and ${one}.token_id = ${of}.token_id`;
  return sql<boolean>`(
    not exists (
      select from ${sql.table(`${schema}.token`)} many where ${isSame(sql`many`)} and many.standard = 1155 offset 0
    ) and not exists (select from ${shiftedToken} shifted where ${isSame(sql`shifted`)})
  )`;
}

import { type RawBuilder, sql } from "kysely";
import type { FactWindow } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { isBurnAddress, zeroAddress } from "../log/sql-values.ts";
import { collectionDelta, holderDelta, movedUnits, shiftedToken, unitDelta } from "./counters.ts";

const isUnits = sql`kind = ${kindLiteral("erc1155_transfer")}`;

/**
 * ERC-1155 balances by the walk of each owner through the transfers of an id (`unitWalks`). Transfers after all
 * that are stored go on from the stored balance. Where one left the chain or comes late, the walk is repeated from its
 * block on: until then no balance was below zero, unless the id has `unlogged` units, whose walk is repeated from the
 * start.
 */
export async function applyErc1155(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await collectMoved(session, schema, window);
  await applyBalances(session, schema, window);
  await applySupplies(session, schema, window);
}

/** The ids that the window changes, with `from_block`: the block to repeat their walk from; null: it only goes on. */
async function collectMoved(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    insert into ${movedUnits}
    select m.contract_id, m.token_id,
           case when not (m.has_left or coalesce(m.first_place <= array[t.block_id, t.log_index], false)) then null
             when t.unlogged = 0 then m.first_place[1] else 0 end,
           m.transfers, m.burned, m.last_place[1], m.last_place[2]
    from (
      select contract_id, token_id, sum(weight) as transfers, bool_or(weight < 0) as has_left,
             min(array[block_id, log_index]) as first_place,
             max(array[block_id, log_index]) filter (where weight > 0) as last_place,
             sum(case when ${isBurnAddress(sql`to_address`)} then weight * amount else 0 end) as burned
      from ${window.changes} where ${isUnits}
      group by contract_id, token_id
    ) m
    left join ${sql.table(`${schema}.token`)} t
      on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 1155`.execute(
    session,
  );
}

/**
 * What an owner had before the walk is the stored balance less what the walk replaces; nothing, where it starts at the
 * first transfer.
 */
async function applyBalances(session: Session, schema: string, window: FactWindow): Promise<void> {
  const balance = sql.table(`${schema}.balance`);
  await sql`
    with walk as (${unitWalks(walkedLegs(window))}), net as (
      select contract_id, token_id, owner, sum(weight * units) as units
      from (${unitLegs(sql`select * from ${window.changes} where ${isUnits}`)}) leg
      group by contract_id, token_id, owner
    ), touched as (
      select contract_id, token_id, owner from walk
      union
      select contract_id, token_id, owner from net
      union
      select b.contract_id, b.token_id, b.owner from ${movedUnits} m join ${balance} b using (contract_id, token_id)
      where m.from_block = 0
    ), changed as materialized (
      select k.contract_id, k.token_id, k.owner, s.before is null as is_new, coalesce(s.before, 0) as before,
             start.units + coalesce(w.units, 0) + lack.units as after, lack.units as unlogged
      from touched k
      join ${movedUnits} m using (contract_id, token_id)
      left join walk w using (contract_id, token_id, owner)
      left join net n using (contract_id, token_id, owner)
      left join lateral (
        select b.units as before from ${balance} b
        where b.contract_id = k.contract_id and b.token_id = k.token_id and b.owner = k.owner offset 0
      ) s on true
      cross join lateral (
        select case when m.from_block = 0 then 0
          else coalesce(s.before, 0) + coalesce(n.units, 0) - coalesce(w.units, 0) end as units
      ) start
      cross join lateral (select greatest(0, -(start.units + coalesce(w.lowest, 0))) as units) lack
    ), deleted as (
      delete from ${balance} b using changed c
      where c.after = 0 and not c.is_new
        and b.contract_id = c.contract_id and b.token_id = c.token_id and b.owner = c.owner
    ), updated as (
      update ${balance} b set units = c.after from changed c
      where c.after <> 0 and not c.is_new and c.after <> c.before
        and b.contract_id = c.contract_id and b.token_id = c.token_id and b.owner = c.owner
    ), inserted as (
      insert into ${balance} (contract_id, token_id, owner, units)
      select contract_id, token_id, owner, after from changed where is_new and after <> 0
    ), noted as (
      insert into ${unitDelta} (contract_id, token_id, supply, unlogged)
      select contract_id, token_id,
             sum(case when ${isBurnAddress(sql`owner`)} then 0 else after - before end), sum(unlogged)
      from changed group by contract_id, token_id
    )
    insert into ${holderDelta} (contract_id, owner, ids)
    select contract_id, owner, (after > 0)::int - (before > 0)::int
    from changed
    where (after > 0) <> (before > 0) and not ${isBurnAddress(sql`owner`)}`.execute(session);
}

/** Legs of the window, or, where a walk is repeated, those of the log. */
function walkedLegs(window: FactWindow): RawBuilder<unknown> {
  const columns = sql`f.contract_id, f.token_id, f.block_id, f.log_index, f.sub_index, f.from_address, f.to_address, f.amount`;
  return sql`
    select ${columns}, 1 as weight from ${movedUnits} m join ${window.changes} f using (contract_id, token_id)
    where m.from_block is null and f.${isUnits}
    union all
    select ${columns}, 1 from ${movedUnits} m
    cross join lateral (
      select * from ${window.facts} f
      where f.${isUnits} and f.contract_id = m.contract_id and f.token_id = m.token_id and f.block_id >= m.from_block
        and f.position <= ${window.upTo} and f.block_id not in (select block_id from ${window.retractedBlocks})
      offset 0
    ) f
    where m.from_block is not null`;
}

async function applySupplies(session: Session, schema: string, window: FactWindow): Promise<void> {
  const token = sql.table(`${schema}.token`);
  await sql`
    with changed as materialized (
      select m.contract_id, m.token_id, t.transfers is null as is_new, coalesce(t.supply, 0) as before,
             coalesce(t.supply, 0) + coalesce(d.supply, 0) as after, coalesce(t.transfers, 0) as transfers_before,
             coalesce(t.transfers, 0) + m.transfers as transfers, coalesce(t.burned, 0) + m.burned as burned,
             case when m.from_block = 0 then 0 else coalesce(t.unlogged, 0) end + coalesce(d.unlogged, 0) as unlogged,
             place.block_id, place.log_index
      from ${movedUnits} m
      left join ${unitDelta} d using (contract_id, token_id)
      left join ${token} t on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 1155
      left join lateral (
        select m.last_block_id as block_id, m.last_log_index as log_index where m.from_block is null
        union all
        select * from (${lastPlace(window)}) last where m.from_block is not null
      ) place on true
    ), deleted as (
      delete from ${token} t using changed c
      where c.transfers = 0 and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 1155
    ), updated as (
      update ${token} t
      set supply = c.after, is_burned = ${isBurned}, transfers = c.transfers, burned = c.burned,
          unlogged = c.unlogged, block_id = c.block_id, log_index = c.log_index
      from changed c
      where c.transfers <> 0 and not c.is_new
        and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 1155
    ), inserted as (
      insert into ${token}
        (contract_id, token_id, standard, supply, is_burned, transfers, burned, unlogged, block_id, log_index)
      select contract_id, token_id, 1155, after, ${isBurned}, transfers, burned, unlogged, block_id, log_index
      from changed c where is_new and transfers <> 0
    ), noted as (
      insert into ${shiftedToken} (contract_id, token_id, is_units)
      select contract_id, token_id, transfers <> 0 from changed where (transfers = 0) <> (transfers_before = 0)
    )
    insert into ${collectionDelta} (contract_id, erc721_tokens, tokens, supply, units)
    select contract_id, 0, sum((transfers <> 0)::int - (transfers_before <> 0)::int),
           sum((after > 0)::int - (before > 0)::int), sum(after - before)
    from changed
    group by contract_id`.execute(session);
}

const isBurned = sql`(c.after = 0 and c.burned > 0)`;

/** Of the last effective transfer of the id of `m`. */
function lastPlace(window: FactWindow): RawBuilder<unknown> {
  return sql`
    select f.block_id, f.log_index from ${window.facts} f
    where f.${isUnits} and f.contract_id = m.contract_id and f.token_id = m.token_id
      and f.position <= ${window.upTo} and f.block_id not in (select block_id from ${window.retractedBlocks})
    order by f.block_id desc, f.log_index desc limit 1`;
}

/** SQL: what each of the transfers takes from an owner and gives to one, in this order; nobody is at the zero address. */
function unitLegs(transfers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select t.contract_id, t.token_id, leg.owner, t.weight, t.block_id, t.log_index, t.sub_index, leg.step, leg.units
    from (${transfers}) t
    cross join lateral (values (t.from_address, 0, -t.amount), (t.to_address, 1, t.amount)) leg (owner, step, units)
    where leg.owner <> ${zeroAddress}`;
}

/**
 * SQL: by owner of an id, `units`: what transfers gave less what they took, and `lowest`: the least that this was on the
 * way in chain order, at most zero. Whoever moves more than the log gave has had the rest all along: it was minted
 * without an event, so that a balance is `units - lowest`.
 */
export function unitWalks(transfers: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select contract_id, token_id, owner, sum(units) as units, least(0, min(reached)) as lowest
    from (
      select contract_id, token_id, owner, units, sum(units) over (
               partition by contract_id, token_id, owner order by block_id, log_index, sub_index, step
             ) as reached
      from (${unitLegs(transfers)}) leg
    ) walked
    group by contract_id, token_id, owner`;
}

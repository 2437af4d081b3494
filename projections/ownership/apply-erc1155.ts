import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { kindLiteral } from "../log/fact-kind-sql.ts";
import { isBurnAddress, zeroAddress } from "../sql/burn-address.ts";
import { collectionDelta, holderDelta } from "./counters.ts";

/**
 * An ERC-1155 balance is the sum of transfers in less transfers out. It is updated by the facts that became effective
 * or are no longer effective: an id may have millions of transfers, and a sum does not depend on their order.
 */
export async function applyErc1155(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await applyBalances(session, schema, window);
  await applySupplies(session, schema, window);
}

async function applyBalances(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    with delta as (
      select contract_id, token_id, owner, sum(units) as units
      from (
        select contract_id, token_id, to_address as owner, weight * amount as units from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")}
        union all
        select contract_id, token_id, from_address, -weight * amount from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")}
      ) leg
      where owner <> ${zeroAddress}
      group by contract_id, token_id, owner
      having sum(units) <> 0
    ), changed as materialized (
      select m.contract_id, m.token_id, m.owner, b.units is null as is_new, coalesce(b.units, 0) as before,
             coalesce(b.units, 0) + m.units as after
      from delta m
      left join ${sql.table(`${schema}.balance`)} b using (contract_id, token_id, owner)
    ), deleted as (
      delete from ${sql.table(`${schema}.balance`)} b using changed c
      where c.after = 0 and b.contract_id = c.contract_id and b.token_id = c.token_id and b.owner = c.owner
    ), updated as (
      update ${sql.table(`${schema}.balance`)} b set units = c.after from changed c
      where c.after <> 0 and not c.is_new
        and b.contract_id = c.contract_id and b.token_id = c.token_id and b.owner = c.owner
    ), inserted as (
      insert into ${sql.table(`${schema}.balance`)} (contract_id, token_id, owner, units)
      select contract_id, token_id, owner, after from changed where is_new
    )
    insert into ${holderDelta} (contract_id, owner, ids)
    select contract_id, owner, (after > 0)::int - (before > 0)::int
    from changed
    where (after > 0) <> (before > 0) and not ${isBurnAddress(sql`owner`)}`.execute(session);
}

async function applySupplies(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    with delta as (
      select contract_id, token_id, sum(weight) as transfers,
             sum(case when ${isBurnAddress(sql`to_address`)} then 0 else weight * amount end)
             - sum(case when ${isBurnAddress(sql`from_address`)} then 0 else weight * amount end) as units
      from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")}
      group by contract_id, token_id
    ), changed as materialized (
      select m.contract_id, m.token_id, t.transfers is null as is_new, coalesce(t.transfers, 0) as transfers_before,
             coalesce(t.transfers, 0) + m.transfers as transfers, coalesce(t.supply, 0) as before,
             coalesce(t.supply, 0) + m.units as after
      from delta m
      left join ${sql.table(`${schema}.token`)} t
        on t.contract_id = m.contract_id and t.token_id = m.token_id and t.standard = 1155
    ), deleted as (
      delete from ${sql.table(`${schema}.token`)} t using changed c
      where c.transfers = 0 and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 1155
    ), updated as (
      update ${sql.table(`${schema}.token`)} t
      set supply = c.after, is_burned = c.after <= 0, transfers = c.transfers
      from changed c
      where c.transfers <> 0 and not c.is_new
        and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 1155
    ), inserted as (
      insert into ${sql.table(`${schema}.token`)} (contract_id, token_id, standard, supply, is_burned, transfers)
      select contract_id, token_id, 1155, after, after <= 0, transfers from changed where is_new and transfers <> 0
    )
    insert into ${collectionDelta} (contract_id, erc721_tokens, tokens, supply, units)
    select contract_id, 0, sum((transfers <> 0)::int - (transfers_before <> 0)::int),
           sum((after > 0)::int - (before > 0)::int), sum(after - before)
    from changed
    group by contract_id`.execute(session);
}

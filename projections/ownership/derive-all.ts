import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow, Step } from "../engine/projection.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { isBurnAddress } from "../log/sql-values.ts";
import { deriveAllRanges, deriveRangedTokens } from "./derive-all-ranges.ts";
import { unitWalks } from "./unit-walk.ts";

/** The rows that `apply` updates by differences, derived from all transfers: counters from the rows of earlier steps. */
export const ownershipSteps: readonly Step[] = [
  { name: "ERC-1155 units", derive: deriveUnits },
  { name: "ERC-721 owners", derive: deriveOwners },
  { name: "holders", derive: countHolders },
  { name: "contracts", derive: countContracts },
];

const table = (schema: string, name: string): RawBuilder<unknown> => sql.table(`${schema}.${name}`);

/** After the units: an id has one standard. Sorted by the primary key, which makes its index cheap to build. */
async function deriveOwners(session: Session, schema: string, window: FactWindow): Promise<void> {
  await deriveAllRanges(session, schema, window);
  await sql`
    insert into ${table(schema, "token")}
      (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
    ${lastTransfers(schema, window, sql`contract_id not in (select contract_id from ${table(schema, "last_range")})`)}
    order by contract_id, token_id`.execute(session);
  await deriveRangedTokens(session, schema, (condition) =>
    lastTransfers(schema, window, condition),
  );
}

/**
 * SQL: rows of `token` by each token's last single transfer, without those that ERC-1155 transfers have moved. Facts are read in the order of the log and sorted: without
 * `offset 0` the planner takes the index in the order of tokens, and reads a page of a log that no memory holds for each.
 */
function lastTransfers(
  schema: string,
  window: FactWindow,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select contract_id, token_id, 721, to_address, case when is_burned then 0 else 1 end, is_burned, block_id, log_index
    from (
      select distinct on (contract_id, token_id) contract_id, token_id, to_address, block_id, log_index,
             ${isBurnAddress(sql`to_address`)} as is_burned
      from (
        select contract_id, token_id, to_address, block_id, log_index from ${window.changes}
        where kind = ${kindLiteral("erc721_transfer")} and ${condition} offset 0
      ) transfer
      order by contract_id, token_id, block_id desc, log_index desc
    ) last
    where not exists (
      select from ${table(schema, "token")} many
      where many.contract_id = last.contract_id and many.token_id = last.token_id
    )`;
}

/** Balances and supplies: one walk through all transfers gives both. */
async function deriveUnits(session: Session, schema: string, window: FactWindow): Promise<void> {
  const transfers = sql`
    select * from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")}`;
  await sql`
    create temporary table unit_balance on commit drop as
    select contract_id, token_id, owner, units - lowest as units, -lowest as unlogged
    from (${unitWalks(transfers)}) walk`.execute(session);
  await sql`
    insert into ${table(schema, "balance")} (contract_id, token_id, owner, units)
    select contract_id, token_id, owner, units from pg_temp.unit_balance where units > 0`.execute(
    session,
  );
  await sql`
    insert into ${table(schema, "token")}
      (contract_id, token_id, standard, supply, is_burned, transfers, burned, unlogged, block_id, log_index)
    select contract_id, token_id, 1155, coalesce(h.supply, 0), coalesce(h.supply, 0) = 0 and m.burned > 0, m.transfers,
           m.burned, coalesce(h.unlogged, 0), m.last_place[1], m.last_place[2]
    from (
      select contract_id, token_id, count(*) as transfers, max(array[block_id, log_index]) as last_place,
             sum(case when ${isBurnAddress(sql`to_address`)} then amount else 0 end) as burned
      from (${transfers}) t
      group by contract_id, token_id
    ) m
    left join (
      select contract_id, token_id, sum(unlogged) as unlogged,
             sum(case when ${isBurnAddress(sql`owner`)} then 0 else units end) as supply
      from pg_temp.unit_balance group by contract_id, token_id
    ) h using (contract_id, token_id)`.execute(session);
}

/** Counted in the order of the primary key, which makes its index cheap to build. Few contracts have ranges. */
async function countHolders(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${table(schema, "holder")} (contract_id, owner, tokens)
    select contract_id, owner, coalesce(single.ids, 0) + coalesce(ranged.ids, 0)
    from (
      select contract_id, owner, count(*) as ids
      from (
        select contract_id, owner
        from (
          select contract_id, owner from ${table(schema, "token")} where standard = 721 and not is_burned
          union all
          select contract_id, owner from ${table(schema, "balance")}
          where units > 0 and not ${isBurnAddress(sql`owner`)}
        ) held
        order by contract_id, owner offset 0
      ) held
      group by contract_id, owner
    ) single
    full join (
      select contract_id, owner, sum(last_id - first_id + 1) as ids from ${table(schema, "token_range")}
      where not is_burned group by contract_id, owner
    ) ranged using (contract_id, owner)`.execute(session);
}

async function countContracts(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${table(schema, "collection")} (contract_id, erc721_tokens, tokens, supply, units, holders)
    select contract_id, erc721_tokens, tokens, supply, units, coalesce(holders, 0)
    from (
      select contract_id, sum(erc721_tokens) as erc721_tokens, sum(tokens) as tokens, sum(supply) as supply,
             sum(units) as units
      from (
        select contract_id, count(*) filter (where standard = 721) as erc721_tokens, count(*) as tokens,
               count(*) filter (where supply > 0) as supply, sum(supply) as units
        from ${table(schema, "token")} group by contract_id
        union all
        select contract_id, sum(ids), sum(ids), sum(unburned), sum(unburned)
        from ${table(schema, "token_range")}
        cross join lateral (select last_id - first_id + 1 as ids) size
        cross join lateral (select case when is_burned then 0 else ids end as unburned) kept
        group by contract_id
      ) counted
      group by contract_id
    ) t
    left join (
      select contract_id, count(*) as holders from ${table(schema, "holder")} group by contract_id
    ) h using (contract_id)`.execute(session);
}

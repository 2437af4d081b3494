import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow, Step } from "../engine/projection.ts";
import { kindLiteral } from "../log/fact-kind-sql.ts";
import { isBurnAddress, zeroAddress } from "../sql/burn-address.ts";
import { deriveAllRanges, deriveRangedTokens } from "./derive-all-ranges.ts";

/** The rows that `apply` updates by differences, derived from all transfers: counters from the rows of earlier steps. */
export const ownershipSteps: readonly Step[] = [
  { name: "ERC-721 owners", derive: deriveOwners },
  { name: "ERC-1155 balances", derive: deriveBalances },
  { name: "ERC-1155 supplies", derive: deriveSupplies },
  { name: "holders", derive: countHolders },
  { name: "contracts", derive: countContracts },
];

const table = (schema: string, name: string): RawBuilder<unknown> => sql.table(`${schema}.${name}`);

/** Sorted by the primary key, which makes its index cheap to build. */
async function deriveOwners(session: Session, schema: string, window: FactWindow): Promise<void> {
  await deriveAllRanges(session, schema, window);
  await sql`
    insert into ${table(schema, "token")}
      (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
    ${lastTransfers(window, sql`contract_id not in (select contract_id from ${table(schema, "last_range")})`)}
    order by contract_id, token_id`.execute(session);
  await deriveRangedTokens(session, schema, (condition) => lastTransfers(window, condition));
}

/**
 * SQL: rows of `token` by each token's last single transfer. Facts are read in the order of the log and sorted: without
 * `offset 0` the planner takes the index in the order of tokens, and reads a page of a log that no memory holds for each.
 */
function lastTransfers(window: FactWindow, condition: RawBuilder<unknown>): RawBuilder<unknown> {
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
    ) last`;
}

async function deriveBalances(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    insert into ${table(schema, "balance")} (contract_id, token_id, owner, units)
    select contract_id, token_id, owner, sum(units)
    from (
      select contract_id, token_id, owner, units
      from ${window.changes} cross join lateral (values (to_address, amount), (from_address, -amount)) moved (owner, units)
      where kind = ${kindLiteral("erc1155_transfer")}
    ) leg
    where owner <> ${zeroAddress}
    group by contract_id, token_id, owner
    having sum(units) <> 0`.execute(session);
}

async function deriveSupplies(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    insert into ${table(schema, "token")} (contract_id, token_id, standard, supply, is_burned, transfers)
    select contract_id, token_id, 1155, units, units <= 0, transfers
    from (
      select contract_id, token_id, count(*) as transfers,
             sum(case when ${isBurnAddress(sql`to_address`)} then 0 else amount end)
             - sum(case when ${isBurnAddress(sql`from_address`)} then 0 else amount end) as units
      from ${window.changes} where kind = ${kindLiteral("erc1155_transfer")}
      group by contract_id, token_id
    ) moved`.execute(session);
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

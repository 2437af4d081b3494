import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactWindow } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";
import { readLastRanges } from "./range-facts.ts";
import { insertRuns } from "./run-rows.ts";

/** Fills `last_range`, contract by contract. */
export async function deriveAllRanges(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await readLastRanges(session, window, undefined, (runs) =>
    insertRuns(session, schema, "last_range", runs),
  );
}

/** Tokens of contracts with ranges whose last transfer is a single one, and the ranges without them. */
export async function deriveRangedTokens(
  session: Session,
  schema: string,
  lastTransfers: (condition: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<void> {
  const [stored, last] = [sql.table(`${schema}.last_range`), sql`pg_temp.indexed_range`];
  // Otherwise every transfer would be read to find none.
  const { rows } = await sql`select from ${stored} limit 1`.execute(session);
  if (rows.length === 0) return;
  await sql`create temporary table indexed_range on commit drop as select * from ${stored}`.execute(
    session,
  );
  await sql`create unique index on ${last} (contract_id, first_id)`.execute(session);
  await sql`analyze ${last}`.execute(session);
  await openScratchTable(session, "ranged_token", rangedColumns);
  await sql`
    insert into ${ranged}
    select t.contract_id, t.token_id, t.owner, t.supply, t.is_burned, t.block_id, t.log_index,
           case when r.last_id >= t.token_id then r.first_id end, coalesce((r.block_id, r.log_index) > (t.block_id, t.log_index) and r.last_id >= t.token_id, false)
    from (${lastTransfers(sql`contract_id in (select contract_id from ${last})`)})
      t (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
    left join lateral (
      select * from ${last} r where r.contract_id = t.contract_id and r.first_id <= t.token_id
      order by r.first_id desc limit 1
    ) r on true`.execute(session);
  await sql`
    insert into ${sql.table(`${schema}.token`)}
      (contract_id, token_id, standard, owner, supply, is_burned, block_id, log_index)
    select contract_id, token_id, 721, owner, supply, is_burned, block_id, log_index
    from ${ranged} where not is_hidden order by contract_id, token_id`.execute(session);
  await sql`
    insert into ${ranged} (contract_id, token_id, range_first_id, is_hidden)
    select t.contract_id, t.token_id, r.first_id, false
    from ${sql.table(`${schema}.token`)} t
    join ${last} r on r.contract_id = t.contract_id and r.first_id <= t.token_id and r.last_id >= t.token_id
    where t.standard = 1155`.execute(session);
  await deriveTokenRanges(session, schema, last);
}

const ranged = sql`pg_temp.ranged_token`;
const rangedColumns = `
  contract_id integer, token_id numeric(78,0), owner bytea, supply numeric, is_burned boolean, block_id bigint,
  log_index integer, range_first_id numeric(78,0), is_hidden boolean`;

/** What lies between two tokens that left a range one after the other, or its ends. */
async function deriveTokenRanges(
  session: Session,
  schema: string,
  last: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into ${sql.table(`${schema}.token_range`)} (contract_id, first_id, last_id, owner, block_id, log_index)
    select r.contract_id, gap.first_id, gap.last_id, r.owner, r.block_id, r.log_index
    from (
      select contract_id, range_first_id, token_id + 1 as first_id,
             lead(token_id) over (partition by contract_id, range_first_id order by token_id) - 1 as last_id
      from (
        select contract_id, range_first_id, token_id from ${ranged} where range_first_id is not null and not is_hidden
        union all
        select contract_id, first_id, first_id - 1 from ${last}
        union all
        select contract_id, first_id, last_id + 1 from ${last}
      ) bound
    ) gap
    join ${last} r on r.contract_id = gap.contract_id and r.first_id = gap.range_first_id
    where gap.first_id <= gap.last_id
    order by 1, 2`.execute(session);
}

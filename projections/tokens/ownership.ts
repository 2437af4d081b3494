import { type RawBuilder, sql } from "kysely";
import { burnAddresses } from "../domain/burn-address.ts";
import type { FactWindow, Projection, Step } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";
import type { Session } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { isBurnAddress } from "../log/sql-values.ts";
import { versions } from "../log/versions.ts";
import { applyErc721, applyStandards } from "./apply-erc721.ts";
import { applyErc1155, unitWalks } from "./apply-erc1155.ts";
import { applyRanges, applyRangesToTokens, applyTokenRanges } from "./apply-ranges.ts";
import { openCounterDeltas, storeCollections, storeHolders } from "./counters.ts";
import { insertRuns, readLastRanges } from "./range-rows.ts";

/** The rows that `apply` updates by differences, derived from all transfers: counters from the rows of earlier steps. */
const ownershipSteps: readonly Step[] = [
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

const isBurned = `(owner in (${[...burnAddresses].map((one) => `'\\x${one.slice(2)}'::bytea`).join(", ")}))`;

/**
 * Owners of ERC-721 tokens, balances of ERC-1155 ids, and counters. Sums are unbounded: a contract may emit any number
 * of transfers of the largest amount. The fillfactor lets a reorg that moves a transfer to another block update the row
 * in place (HOT), without touching an index.
 */
function ownershipTables(schema: string): string[] {
  return [
    `create table ${schema}.token (
       contract_id integer not null,
       token_id    numeric(78,0) not null,
       standard    smallint not null,
       owner       bytea,
       supply      numeric not null,
       is_burned   boolean not null,
       transfers   bigint,
       burned      numeric,
       unlogged    numeric,
       block_id    bigint,
       log_index   integer,
       primary key (contract_id, token_id, standard)
     ) with (fillfactor = 90)`,
    `comment on column ${schema}.token.owner is 'ERC-721: the current owner, burn addresses included. ERC-1155: null'`,
    `comment on column ${schema}.token.supply is 'Units not burned: 0 or 1 for ERC-721'`,
    `comment on column ${schema}.token.transfers is 'ERC-1155: effective transfers; without any there is no row'`,
    `comment on column ${schema}.token.burned is 'ERC-1155: units that transfers gave to burn addresses'`,
    `comment on column ${schema}.token.unlogged is 'ERC-1155: units that were moved and that no transfer had given: minted without an event'`,
    `comment on column ${schema}.token.block_id is 'With log_index, the last transfer of the token'`,
    `create index on ${schema}.token (owner, contract_id, token_id) where owner is not null`,
    `create table ${schema}.last_range (
       contract_id integer not null,
       first_id    numeric(78,0) not null,
       last_id     numeric(78,0) not null,
       owner       bytea not null,
       block_id    bigint not null,
       log_index   integer not null,
       primary key (contract_id, first_id)
     )`,
    `comment on table ${schema}.last_range is 'For each id its last effective ConsecutiveTransfer, as runs of ids that do not overlap'`,
    `create table ${schema}.token_range (
       contract_id integer not null,
       first_id    numeric(78,0) not null,
       last_id     numeric(78,0) not null,
       owner       bytea not null,
       is_burned   boolean not null generated always as ${isBurned} stored,
       block_id    bigint not null,
       log_index   integer not null,
       primary key (contract_id, first_id)
     )`,
    `comment on table ${schema}.token_range is 'Those of them without a later transfer of their own: their owner is here, all others have a row in token'`,
    `create index on ${schema}.token_range (owner, contract_id, first_id)`,
    `create table ${schema}.balance (
       contract_id integer not null,
       token_id    numeric(78,0) not null,
       owner       bytea not null,
       units       numeric not null,
       primary key (contract_id, token_id, owner)
     )`,
    `comment on column ${schema}.balance.units is 'What transfers gave less what they took, and what was minted without an event; above zero'`,
    `create index on ${schema}.balance (owner, contract_id, token_id)`,
    `create table ${schema}.holder (
       contract_id integer not null,
       owner       bytea not null,
       tokens      numeric not null,
       primary key (contract_id, owner)
     )`,
    `comment on table ${schema}.holder is 'Number of token ids of a contract that an address holds; no burn addresses'`,
    `create table ${schema}.collection (
       contract_id   integer primary key,
       erc721_tokens numeric not null,
       tokens        numeric not null,
       supply        numeric not null,
       units         numeric not null,
       holders       bigint not null,
       standard      smallint generated always as (case when erc721_tokens > 0 then 721 else 1155 end) stored
     )`,
    `comment on column ${schema}.collection.tokens is 'Token ids with a transfer'`,
    `comment on column ${schema}.collection.supply is 'Token ids that are not burned'`,
  ];
}

/** Fills `last_range`, contract by contract. */
async function deriveAllRanges(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  await readLastRanges(session, window, undefined, (runs) =>
    insertRuns(session, schema, "last_range", runs),
  );
}

/** Tokens of contracts with ranges whose last transfer is a single one, and the ranges without them. */
async function deriveRangedTokens(
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

/** Who owns what: ERC-721 owners, ERC-1155 balances, supplies, holders. */
export const ownershipProjection: Projection = {
  name: "ownership",
  version: versions.ownership.version,
  handles: ["erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer"],
  sample: {
    key: ["contract_id", "token_id"],
    // A token of a contract with ranges depends on facts that do not name it.
    where: sql`f.kind in ${kindList("erc721_transfer", "erc1155_transfer")} and not exists (
      select from log.fact ranged
      where ranged.kind in ${kindList("erc721_consecutive_transfer")} and ranged.contract_id = f.contract_id
    )`,
    tables: ["token", "balance"],
  },
  tables: ownershipTables,
  apply: applyTransfers,
  deriveAll: ownershipSteps,
};

async function applyTransfers(session: Session, schema: string, window: FactWindow): Promise<void> {
  const ranges = await applyRanges(session, schema, window);
  await sendAhead(session, async (ahead) => {
    await openCounterDeltas(ahead);
    await applyErc1155(ahead, schema, window);
    await applyErc721(ahead, schema, window);
    await applyRangesToTokens(ahead, schema, window, ranges);
    await applyStandards(ahead, schema, window);
  });
  await applyTokenRanges(session, schema, ranges);
  await sendAhead(session, async (ahead) => {
    await storeHolders(ahead, schema);
    await storeCollections(ahead, schema);
  });
}

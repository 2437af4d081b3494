import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { FactWindow } from "../engine/projection.ts";
import { changedSaleTransactions } from "../exchanges/exchanges.ts";
import { requireContractIds } from "../log/contracts.ts";
import type { Session } from "../log/database.ts";
import {
  addTokenTotals,
  adjustDays,
  adjustSaleCountBits,
  deleteEmptyDays,
  fillDays,
  fillSaleCountBits,
  fillTokenTotals,
  subtractTokenTotals,
} from "./counts.ts";
import {
  byteaText,
  type StoredSale,
  type UnresolvedRow,
  unregisteredContracts,
} from "./transactions.ts";

type ChangedHour = { chain_id: number; contract_id: number; currency: Hex; hour: Date };
/** A token with sales that were added. */
export type SoldToken = { contract_id: number; token_id: bigint; is_erc1155: boolean };

/** Deletes the sales of the window's transactions and takes them out of the counters. */
export async function deleteSales(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const { rows } = await sql<ChangedHour>`
    with changed as (
      ${changedSaleTransactions(window.changes)}
    ), counted as (
      delete from ${sql.id(schema, "sale")} sale using changed
      where sale.block_id = changed.block_id and sale.transaction_index = changed.transaction_index
      returning sale.chain_id, sale.contract_id, sale.token_id, sale.currency, sale.marketplace, sale.protocol,
                sale.timestamp, sale.total_wei
    ), ${adjustCounters(schema, -1)}, ${subtractTokenTotals(schema)}, ${adjustSaleCountBits(schema, -1)}
    select distinct chain_id, contract_id, currency, ${hour} as hour from counted`.execute(session);
  if (rows.length === 0) return;
  await sql`
    delete from ${sql.id(schema, "volume")} volume
    using unnest(
      ${rows.map((row) => row.contract_id)}::int[],
      ${rows.map((row) => byteaText(row.currency))}::bytea[],
      ${rows.map((row) => row.hour)}::timestamptz[]
    ) as changed (contract_id, currency, hour)
    where volume.contract_id = changed.contract_id and volume.currency = changed.currency
      and volume.hour = changed.hour and volume.sales = 0`.execute(session);
  await deleteEmptyDays(session, schema, rows);
  await sql`delete from ${sql.id(schema, "total")} where sales = 0`.execute(session);
}

/** Inserts sales and adds them to the counters. Returns the tokens sold. */
export async function addSales(
  session: Session,
  schema: string,
  rows: readonly StoredSale[],
): Promise<SoldToken[]> {
  if (rows.length === 0) return [];
  await requireContractIds(session, unregisteredContracts(rows));
  const added = await sql<SoldToken>`
    with counted as (
      ${insertedSales(schema, rows)}
      returning chain_id, contract_id, token_id, currency, marketplace, protocol, timestamp, total_wei,
                is_erc1155
    ), ${adjustCounters(schema, 1)}, ${addTokenTotals(schema)}, ${adjustSaleCountBits(schema, 1)}
    select distinct contract_id, token_id, is_erc1155 from counted`.execute(session);
  return added.rows;
}

/** Inserts sales whose contracts have ids; `fillCounters` follows when all are there. */
export async function insertSales(
  session: Session,
  schema: string,
  rows: readonly StoredSale[],
): Promise<void> {
  if (rows.length === 0) return;
  await insertedSales(schema, rows).execute(session);
}

/** Fills the empty counters. */
export async function fillCounters(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "volume")} (contract_id, currency, hour, sales, wei)
    select contract_id, currency, ${hour}, count(*), sum(total_wei)
    from ${sql.id(schema, "sale")} group by 1, 2, 3`.execute(session);
  await sql`
    insert into ${sql.id(schema, "total")} (chain_id, contract_id, sales)
    select chain_id, coalesce(contract_id, 0), count(*)
    from ${sql.id(schema, "sale")} group by grouping sets ((chain_id, contract_id), (chain_id))`.execute(
    session,
  );
  await fillDays(session, schema);
  await fillTokenTotals(session, schema);
  await fillSaleCountBits(session, schema);
}

/** Fields of a sale's row, and their types. */
const columns = [
  ["block_id", "bigint"],
  ["transaction_index", "integer"],
  ["ordinal", "integer"],
  ["sale_id", "bytea"],
  ["contract", "bytea"],
  ["token_id", "numeric"],
  ["quantity", "numeric"],
  ["price_wei", "numeric"],
  ["total_wei", "numeric"],
  ["currency", "bytea"],
  ["seller", "bytea"],
  ["buyer", "bytea"],
  ["via", "bytea"],
  ["is_erc1155", "boolean"],
  ["side", "text"],
  ["marketplace", "text"],
  ["protocol", "text"],
  ["protocol_version", "text"],
  ["exchange", "bytea"],
  ["order_hash", "bytea"],
  ["fees", "jsonb"],
  ["bundle_size", "integer"],
  ["bundle_total_wei", "numeric"],
  ["log_index", "integer"],
] as const satisfies readonly (readonly [keyof StoredSale, string])[];

/** One text per column: the driver escapes an array's values one by one, and parsing JSON is slower still. */
function column(
  rows: readonly StoredSale[],
  name: keyof StoredSale,
  type: string,
): RawBuilder<unknown> {
  const text = rows.map((row) => row[name] ?? "").join("\n");
  return sql`string_to_array(${text}, E'\\n', '')::${sql.raw(type)}[]`;
}

/** A contract without an id is an error. */
function insertedSales(schema: string, rows: readonly StoredSale[]): RawBuilder<unknown> {
  return sql`insert into ${sql.id(schema, "sale")} (
      block_id, transaction_index, ordinal, sale_id, chain_id, contract_id, token_id, quantity, price_wei,
      total_wei, currency, seller, buyer, via, is_erc1155, side, marketplace, protocol, protocol_version, exchange, order_hash, fees,
      bundle_size, bundle_total_wei, log_index, transaction_hash, block_number, block_hash, timestamp
    )
    select row.block_id, row.transaction_index, ordinal, sale_id, block.chain_id, contract.contract_id,
           token_id, quantity, price_wei, total_wei, currency, seller, buyer, via, is_erc1155, side, marketplace,
           protocol, protocol_version, exchange, order_hash, fees, bundle_size, bundle_total_wei, log_index,
           transaction.hash, block.number, block.hash, block.timestamp
    from unnest(${sql.join(columns.map(([name, type]) => column(rows, name, type)))})
      as row (${sql.join(columns.map(([name]) => sql.ref(name)))})
    join log.block on block.block_id = row.block_id
    join log.transaction on transaction.block_id = row.block_id
      and transaction.transaction_index = row.transaction_index
    left join log.contract_alias alias on alias.chain_id = block.chain_id and alias.address = row.contract
    left join log.contract on contract.chain_id = block.chain_id
      and contract.address = coalesce(alias.stands_for, row.contract)`;
}

const hour = sql`date_trunc('hour', timestamp, 'UTC')`;

/** Changes the counters by the rows of the statement's `counted`. The rows of a bundle sum to its price. */
function adjustCounters(schema: string, sign: 1 | -1): RawBuilder<unknown> {
  const direction = sql.raw(String(sign));
  return sql`
    changed_volume as (
      insert into ${sql.id(schema, "volume")} as volume (contract_id, currency, hour, sales, wei)
      select contract_id, currency, ${hour}, ${direction} * count(*), ${direction} * sum(total_wei)
      from counted group by 1, 2, 3
      on conflict (contract_id, currency, hour) do update
        set sales = volume.sales + excluded.sales, wei = volume.wei + excluded.wei
    ), changed_total as (
      insert into ${sql.id(schema, "total")} as total (chain_id, contract_id, sales)
      select chain_id, coalesce(contract_id, 0), ${direction} * count(*)
      from counted group by grouping sets ((chain_id, contract_id), (chain_id))
      on conflict (chain_id, contract_id) do update set sales = total.sales + excluded.sales
    ), ${adjustDays(schema, sign)}`;
}

/** Deletes the unresolved events of the window's transactions and takes them out of the totals. */
export async function deleteUnresolvedEvents(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<void> {
  const { numAffectedRows } = await sql`
    with counted as (
      delete from ${sql.id(schema, "unresolved_event")} event using (
        ${changedSaleTransactions(window.changes)}
      ) changed
      where event.block_id = changed.block_id and event.transaction_index = changed.transaction_index
      returning event.block_id, event.protocol, event.reason
    )
    ${addToTotals(schema, -1)}`.execute(session);
  if ((numAffectedRows ?? 0n) === 0n) return;
  await sql`delete from ${sql.id(schema, "unresolved_event_total")} where events = 0`.execute(
    session,
  );
}

/** Inserts unresolved events and adds them to the totals. */
export async function addUnresolvedEvents(
  session: Session,
  schema: string,
  rows: readonly UnresolvedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    with counted as (${insertedEvents(schema, rows)} returning block_id, protocol, reason)
    ${addToTotals(schema, 1)}`.execute(session);
}

/** Inserts unresolved events; `fillUnresolvedTotals` follows when all are there. */
export async function insertUnresolvedEvents(
  session: Session,
  schema: string,
  rows: readonly UnresolvedRow[],
): Promise<void> {
  if (rows.length > 0) await insertedEvents(schema, rows).execute(session);
}

/** Fills the empty totals. */
export async function fillUnresolvedTotals(session: Session, schema: string): Promise<void> {
  await sql`
    insert into ${sql.id(schema, "unresolved_event_total")} (chain_id, protocol, reason, events)
    ${totalsOf(sql.id(schema, "unresolved_event"), 1)}`.execute(session);
}

function insertedEvents(schema: string, rows: readonly UnresolvedRow[]): RawBuilder<unknown> {
  return sql`
    insert into ${sql.id(schema, "unresolved_event")} (block_id, transaction_index, place, log_index, protocol, reason)
    select block_id, transaction_index, place, log_index, protocol, reason
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
      block_id bigint, transaction_index integer, place integer, log_index integer, protocol text, reason text
    )`;
}

function totalsOf(unresolved: RawBuilder<unknown>, sign: 1 | -1): RawBuilder<unknown> {
  return sql`
    select block.chain_id, protocol, reason, ${sql.raw(String(sign))} * count(*)
    from ${unresolved} join log.block using (block_id) group by 1, 2, 3`;
}

/** SQL: adds or subtracts the rows of the statement's `counted`. */
function addToTotals(schema: string, sign: 1 | -1): RawBuilder<unknown> {
  return sql`
    insert into ${sql.id(schema, "unresolved_event_total")} as total (chain_id, protocol, reason, events)
    ${totalsOf(sql`counted`, sign)}
    on conflict (chain_id, protocol, reason) do update set events = total.events + excluded.events`;
}

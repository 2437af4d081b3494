import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../log/database.ts";
import type { FactWindow, Parts, Step } from "../engine/projection.ts";
import { exchanges, saleKinds } from "../exchanges/exchanges.ts";
import { simpleSaleColumns } from "../exchanges/model/exchange.ts";
import { type ChainContract, contractsWithoutIds, UnregisteredContracts } from "../log/contracts.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { type LocatedTransaction, readTransactions } from "./read-transactions.ts";
import { type TransactionRows, transactionRows, unregisteredContracts } from "./row.ts";
import { fillCounters, insertSales } from "./store.ts";
import { fillUnresolvedTotals, insertUnresolvedEvents } from "./unresolved-events.ts";
import { fillWashTrades } from "./wash-trades.ts";

/** Transfers in memory at a time, about, as facts count too: a chunk may exceed it by one transaction. */
const CHUNK_TRANSFERS = 20_000;
/** Transfers that a fact counts as. */
const FACT_TRANSFERS = 20;
/** Chunks that are committed together; after a kill they are translated again. */
const CHUNKS = 20;

/** Simple sales by SQL, then the facts of all other transactions, translated chunk by chunk, then the counters. */
export function salesSteps(feeRecipient: Address): readonly Step[] {
  return [
    {
      name: "simple sales",
      derive: (session, schema, window) => insertSimpleSales(session, schema, window, feeRecipient),
    },
    { name: "chunks", derive: chunkFacts },
    {
      name: "sales",
      derive: (session, schema, window, part) =>
        translateChunks(session, schema, window, feeRecipient, part * CHUNKS),
    },
    { name: "counters", derive: finish },
  ];
}

async function insertSimpleSales(
  session: Session,
  schema: string,
  window: FactWindow,
  feeRecipient: Address,
): Promise<void> {
  const columns = sql.join(simpleSaleColumns.map((column) => sql.ref(column)));
  for (const { selectSimpleSales } of exchanges) {
    if (selectSimpleSales === undefined) continue;
    await sql`
      insert into ${sql.id(schema, "sale")} (${columns})
      ${selectSimpleSales(window, { feeRecipient, saleKinds })}`.execute(session);
  }
}

/** Positions of the facts to translate, and their chunks. Dropped when all are translated. */
const factChunks = (schema: string): RawBuilder<unknown> => sql.id(schema, "fact_chunk");

/**
 * Facts of the transactions without a simple sale. A transaction is in one chunk. Where several of its facts are stored
 * with its transfers, all but one repeat them.
 */
async function chunkFacts(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    create table ${factChunks(schema)} as
    select position, is_repeat,
           (min(ends - size) over (partition by block_id, transaction_index) / ${CHUNK_TRANSFERS}::int)::int as chunk
    from (
      select position, block_id, transaction_index, is_repeat, size,
             sum(size) over (order by block_id, transaction_index rows unbounded preceding) as ends
      from (
        select position, block_id, transaction_index, is_repeat,
               ${FACT_TRANSFERS}::int + case when is_repeat then 0 else transfers end as size
        from (${untranslatedFacts(schema, window)}) f
      ) sized
    ) numbered`.execute(session);
  await sql`create index on ${factChunks(schema)} (chunk)`.execute(session);
  await sql`analyze ${factChunks(schema)}`.execute(session);
}

const untranslatedFacts = (schema: string, window: FactWindow) => sql`
  select position, block_id, transaction_index, transfers, transfers > 0 and row_number() over (
           partition by block_id, transaction_index, transfers > 0 order by log_index) > 1 as is_repeat
  from (
    select position, block_id, transaction_index, log_index, ${countTransfers} as transfers
    from ${window.changes} f where kind in ${saleKinds}
      and not exists (
        select from ${sql.id(schema, "sale")} sold
        where sold.block_id = f.block_id and sold.transaction_index = f.transaction_index
      )
  ) counted`;

/** Those that a fact is stored with, unless its transaction is not known by them (`isOfUnknownPool`). */
const countTransfers = sql`
  case when f.kind = ${kindLiteral("exchange_event")} then (
    select case when jsonb_typeof(transfers) = 'array' and f.payload -> 'factory' is distinct from 'null'::jsonb
                then jsonb_array_length(transfers) else 0 end
    from (select f.payload -> 'transfers' as transfers offset 0) stored
  ) else 0 end`;

/** While one chunk is translated the database reads the next one and stores the one before. */
async function translateChunks(
  session: Session,
  schema: string,
  window: FactWindow,
  feeRecipient: Address,
  first: number,
): Promise<Parts> {
  const { rows } = await sql<{ chunks: number }>`
    select coalesce(max(chunk) + 1, 0)::int as chunks from ${factChunks(schema)}`.execute(session);
  const chunks = rows[0]?.chunks ?? 0;
  const end = Math.min(chunks, first + CHUNKS);
  const missing: ChainContract[] = [];
  let stored = Promise.resolve();
  let read = readChunk(session, schema, window, first);
  for (let chunk = first; chunk < end; chunk += 1) {
    const [transactions] = await Promise.all([read, stored]);
    if (chunk + 1 < end) read = readChunk(session, schema, window, chunk + 1);
    stored = storeRows(session, schema, transactionRows(transactions, feeRecipient), missing);
  }
  await Promise.all([read, stored]);
  if (missing.length > 0) throw new UnregisteredContracts(missing);
  return { done: Math.ceil(end / CHUNKS), of: Math.ceil(chunks / CHUNKS) };
}

/** Once a contract has no id the part is done again: the others of the part are then collected, to register all at once. */
async function storeRows(
  session: Session,
  schema: string,
  { sales, unresolved }: TransactionRows,
  missing: ChainContract[],
): Promise<void> {
  missing.push(...(await contractsWithoutIds(session, unregisteredContracts(sales))));
  if (missing.length > 0) return;
  await insertSales(session, schema, sales);
  await insertUnresolvedEvents(session, schema, unresolved);
}

async function readChunk(
  session: Session,
  schema: string,
  window: FactWindow,
  chunk: number,
): Promise<LocatedTransaction[]> {
  return await readTransactions(
    session,
    sql`
      select f.block_id, f.transaction_index, f.log_index, f.kind, f.contract_id, f.from_address, f.to_address,
             f.order_hash, case when p.is_repeat then f.payload - 'transfers' else f.payload end as payload
      from ${factChunks(schema)} p join ${window.facts} f using (position) where p.chunk = ${chunk}`,
  );
}

async function finish(session: Session, schema: string): Promise<void> {
  await fillWashTrades(session, schema);
  await fillCounters(session, schema);
  await fillUnresolvedTotals(session, schema);
  await sql`drop table ${factChunks(schema)}`.execute(session);
}

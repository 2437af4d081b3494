import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../database.ts";
import type { FactWindow, Parts, Step } from "../engine/projection.ts";
import { exchanges } from "../exchanges/exchanges.ts";
import { simpleSaleColumns } from "../exchanges/model/exchange.ts";
import { saleKinds } from "../exchanges/sale-fact-kinds.ts";
import {
  type ChainContract,
  contractsWithoutIds,
  UnregisteredContracts,
} from "../log/contracts.ts";
import { fillDoubtTotals, insertDoubts } from "./doubts.ts";
import { type LocatedTransaction, readTransactions } from "./read-transactions.ts";
import { type TransactionRows, transactionRows, unregisteredContracts } from "./row.ts";
import { fillCounters, insertSales } from "./store.ts";
import { fillWashTrades } from "./wash-trades.ts";

/** Facts that are in memory at a time, about. */
const CHUNK_FACTS = 1_000;
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

/** Facts of the transactions without a simple sale. A transaction is in one chunk. */
async function chunkFacts(session: Session, schema: string, window: FactWindow): Promise<void> {
  await sql`
    create table ${factChunks(schema)} as
    select position, min(number) over (partition by block_id, transaction_index) / ${CHUNK_FACTS}::int as chunk
    from (
      select position, block_id, transaction_index,
             row_number() over (order by block_id, transaction_index) as number
      from ${window.changes} f where kind in ${saleKinds}
        and not exists (
          select from ${sql.id(schema, "sale")} sold
          where sold.block_id = f.block_id and sold.transaction_index = f.transaction_index
        )
    ) numbered`.execute(session);
  await sql`create index on ${factChunks(schema)} (chunk)`.execute(session);
  await sql`analyze ${factChunks(schema)}`.execute(session);
}

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
  { sales, doubts }: TransactionRows,
  missing: ChainContract[],
): Promise<void> {
  missing.push(...(await contractsWithoutIds(session, unregisteredContracts(sales))));
  if (missing.length > 0) return;
  await insertSales(session, schema, sales);
  await insertDoubts(session, schema, doubts);
}

async function readChunk(
  session: Session,
  schema: string,
  window: FactWindow,
  chunk: number,
): Promise<LocatedTransaction[]> {
  return await readTransactions(
    session,
    sql`select f.* from ${factChunks(schema)} p join ${window.facts} f using (position) where p.chunk = ${chunk}`,
  );
}

async function finish(session: Session, schema: string): Promise<void> {
  await fillWashTrades(session, schema);
  await fillCounters(session, schema);
  await fillDoubtTotals(session, schema);
  await sql`drop table ${factChunks(schema)}`.execute(session);
}

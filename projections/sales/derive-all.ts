import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../database.ts";
import type { Parts, Step } from "../engine/projection.ts";
import { insertPlainSales } from "./plain-sales.ts";
import { type Located, orderKinds, readTransactions } from "./read-facts.ts";
import { saleRows } from "./row.ts";
import { countSales, insertSales } from "./store.ts";

/** Order facts that are in memory at a time, about. */
const CHUNK_FACTS = 1_000;
/** Chunks that are committed together: translated again by who goes on after a kill. */
const CHUNKS = 20;

/** Plain sales in one statement, finding all other order facts, translating them chunk by chunk, counting all. */
export function salesSteps(feeRecipient: Address): readonly Step[] {
  return [
    {
      name: "plain sales",
      derive: (session, schema) => insertPlainSales(session, schema, feeRecipient),
    },
    { name: "orders", derive: placeOrderFacts },
    {
      name: "sales",
      derive: (session, schema, _window, part) =>
        translateChunks(session, schema, feeRecipient, part * CHUNKS),
    },
    { name: "counts", derive: countAll },
  ];
}

/** Where the order facts stand, beside the sales until these are counted. */
const places = (schema: string): RawBuilder<unknown> => sql.id(schema, "order_place");

/** Of transactions without a sale so far, in chunks that cut none. */
async function placeOrderFacts(session: Session, schema: string): Promise<void> {
  await sql`
    create table ${places(schema)} as
    select position, min(place) over (partition by block_id, transaction_index) / ${CHUNK_FACTS}::int as chunk
    from (
      select position, block_id, transaction_index, row_number() over (order by block_id, transaction_index) as place
      from change f where kind in (${orderKinds})
        and not exists (
          select from ${sql.id(schema, "sale")} sold
          where sold.block_id = f.block_id and sold.transaction_index = f.transaction_index
        )
    ) placed`.execute(session);
  await sql`create index on ${places(schema)} (chunk)`.execute(session);
  await sql`analyze ${places(schema)}`.execute(session);
}

/** The database reads the next chunk and stores the last one while one is translated. */
async function translateChunks(
  session: Session,
  schema: string,
  feeRecipient: Address,
  first: number,
): Promise<Parts> {
  const { rows } = await sql<{ chunks: number }>`
    select coalesce(max(chunk) + 1, 0)::int as chunks from ${places(schema)}`.execute(session);
  const chunks = rows[0]?.chunks ?? 0;
  const end = Math.min(chunks, first + CHUNKS);
  let stored = Promise.resolve();
  let read = readChunk(session, schema, first);
  for (let chunk = first; chunk < end; chunk += 1) {
    const [transactions] = await Promise.all([read, stored]);
    if (chunk + 1 < end) read = readChunk(session, schema, chunk + 1);
    stored = insertSales(session, schema, saleRows(transactions, feeRecipient));
  }
  await Promise.all([read, stored]);
  return { done: Math.ceil(end / CHUNKS), of: Math.ceil(chunks / CHUNKS) };
}

async function readChunk(session: Session, schema: string, chunk: number): Promise<Located[]> {
  return await readTransactions(
    session,
    sql`select f.* from ${places(schema)} p join log.fact f using (position) where p.chunk = ${chunk}`,
  );
}

async function countAll(session: Session, schema: string): Promise<void> {
  await countSales(session, schema);
  await sql`drop table ${places(schema)}`.execute(session);
}

import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../database.ts";
import { type Located, orderKinds, readTransactions } from "./read-facts.ts";
import { saleRows } from "./row.ts";
import { insertSales } from "./store.ts";

/** Order facts that are in memory at a time, about. */
const CHUNK_FACTS = 4_000;

/** Where the order facts that count stand, in chunks that cut no transaction. */
export async function placeOrderFacts(session: Session): Promise<void> {
  await sql`
    create temporary table order_place on commit drop as
    select position, min(place) over (partition by block_id, transaction_index) / ${CHUNK_FACTS}::int as chunk
    from (
      select position, block_id, transaction_index, row_number() over (order by block_id, transaction_index) as place
      from change where kind in (${orderKinds})
    ) placed`.execute(session);
  await sql`create index on order_place (chunk)`.execute(session);
  await sql`analyze order_place`.execute(session);
}

/** Translates chunk by chunk; the database reads the next one and stores the last one meanwhile. */
export async function deriveAllSales(
  session: Session,
  schema: string,
  feeRecipient: Address,
  onProgress: (step: string) => void,
): Promise<void> {
  const { rows } = await sql<{ last: bigint | null }>`
    select max(chunk) as last from order_place`.execute(session);
  const last = Number(rows[0]?.last ?? -1n);
  let stored = Promise.resolve();
  let read = readChunk(session, 0);
  for (let chunk = 0; chunk <= last; chunk += 1) {
    const [transactions] = await Promise.all([read, stored]);
    read = readChunk(session, chunk + 1);
    stored = insertSales(session, schema, saleRows(transactions, feeRecipient));
    onProgress(`sales, ${chunk + 1} of ${last + 1} parts`);
  }
  await Promise.all([read, stored]);
}

async function readChunk(session: Session, chunk: number): Promise<Located[]> {
  return await readTransactions(
    session,
    sql`select f.* from order_place p join log.fact f using (position) where p.chunk = ${chunk}`,
  );
}

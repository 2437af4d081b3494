import { sql } from "kysely";
import { startAnvil } from "../../../devnet/anvil.ts";
import type { Database } from "../../../projections/database.ts";
import { type App, startApp } from "../ponder/process.ts";
import { chainId } from "./collections.ts";
import { reportStep } from "./data.ts";

type Target = Omit<App, "command" | "rpcUrl"> & { db: Database };

/**
 * Ponder's own tables and indexes as a start on an empty chain leaves them, filled with the market's tokens, sales and
 * listings: the rows that its handlers would have stored.
 */
export async function createPonderTables({ db, ...app }: Target): Promise<void> {
  const { schema } = app;
  await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db);
  await reportStep("Ponder's schema", () => startOnce(app));
  await Promise.all([
    reportStep("its sales", () => fill(db, schema, "sale", sales)),
    reportStep("its tokens", () => fill(db, schema, "token", tokens)).then(() =>
      reportStep("its orders", () => fill(db, schema, "order", orders)),
    ),
  ]);
}

/** Runs Ponder until it is ready, which is after it has created its indexes. */
async function startOnce(app: Omit<App, "command" | "rpcUrl">): Promise<void> {
  const anvil = await startAnvil({ chainId });
  try {
    const { rpcUrl } = anvil;
    const started = await startApp({ ...app, command: "start", rpcUrl });
    await started.backfilled.finally(started.stop);
  } finally {
    await anvil.stop();
  }
}

/** Inserts and reindexes, as Ponder creates indexes after a backfill. */
async function fill(
  db: Database,
  schema: string,
  name: string,
  rows: ReturnType<typeof sql>,
): Promise<void> {
  const table = sql.table(`${schema}.${name}`);
  await db.transaction().execute(async (session) => {
    // Skips Ponder's triggers, which record rows for reorgs.
    await sql`set local session_replication_role = replica`.execute(session);
    await sql`insert into ${table} ${rows}`.execute(session);
  });
  await sql`reindex table ${table}`.execute(db);
  await sql`vacuum analyze ${table}`.execute(db);
}

const hex = (column: string) => sql.raw(`'0x' || encode(${column}, 'hex')`);
const padded = (column: string, digits: number) =>
  sql.raw(`lpad((${column})::text, ${digits}, '0')`);

const tokens = sql`
  (collection, token_id, owner, is_burned)
  select ${hex("c.address")}, t.token_id, ${hex("t.owner")}, t.is_burned
  from ownership.token t join log.contract c using (contract_id)
  where t.owner is not null
  order by t.contract_id, t.block_id, t.log_index`;

/** Ponder's event id: time, chain, block, transaction and log index. */
const eventId = sql`
  ${padded("extract(epoch from s.timestamp)::bigint", 10)} || ${padded("s.chain_id", 16)}
  || ${padded("s.block_number", 16)} || ${padded("s.transaction_index", 16)} || '5' || ${padded("s.log_index", 16)}`;

const sales = sql`
  (id, collection, token_id, quantity, price, currency, seller, buyer, side, order_hash, exchange, fees,
   block_number, block_hash, transaction_hash, log_index, timestamp)
  select ${eventId} || '-' || s.ordinal, ${hex("c.address")}, s.token_id, s.quantity, s.price_wei, ${hex("s.currency")},
         ${hex("s.seller")}, ${hex("s.buyer")}, s.side, ${hex("s.order_hash")}, ${hex("s.exchange")},
         (select jsonb_agg(jsonb_build_object('recipient', fee -> 'recipient', 'wei', fee -> 'wei'))
          from jsonb_array_elements(s.fees) fee)::json,
         s.block_number, ${hex("s.block_hash")}, ${hex("s.transaction_hash")}, s.log_index,
         extract(epoch from s.timestamp)::bigint
  from sales.sale s join log.contract c using (contract_id)
  order by s.block_id, s.transaction_index, s.ordinal`;

/** At equal prices Ponder sorts by hash and our API by log position: these hashes make both orders equal. */
const orders = sql`
  (hash, maker, status, collection, token_id, price, counter, updated_at)
  select '0x' || lpad(to_hex(l.position), 64, '0'), ${hex("l.maker")}, l.status, ${hex("c.address")}, l.token_id,
         l.unit_price_wei, l.counter, extract(epoch from l.updated_at)::bigint
  from listings.listing l join log.contract c using (contract_id)
  order by l.position`;

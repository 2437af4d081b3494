import { sql } from "kysely";
import { startAnvil } from "#devnet/anvil.ts";
import { saleUsdE8, usdE8Of } from "#projections/engine/usd.ts";
import type { Database } from "#projections/log/database.ts";
import { type App, startApp } from "../ponder/process.ts";
import { chainId } from "./collections.ts";
import { reportStep } from "./data.ts";
import { selectCollections } from "./graphql-collections.ts";

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
      reportStep("its orders", () => fill(db, schema, "order", sql`${listings} union all ${bids}`)),
    ),
    reportStep("its metadata", () => fill(db, schema, "metadata", metadata)),
    reportStep("its collections' names", () => fill(db, schema, "profile", profiles)),
    reportStep("its collections", async () =>
      fill(db, schema, "collection", await selectCollections(db)),
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
/** At equal prices Ponder sorts by hash and our API by log position: these hashes make both orders equal. */
const orderHash = (position: string) => sql.raw(`'0x' || lpad(to_hex(${position}), 64, '0')`);
const padded = (column: string, digits: number) =>
  sql.raw(`lpad((${column})::text, ${digits}, '0')`);

/** Ponder's event id: time, chain, block, transaction and log index. */
const eventId = sql`
  ${padded("extract(epoch from s.timestamp)::bigint", 10)} || ${padded("s.chain_id", 16)}
  || ${padded("s.block_number", 16)} || ${padded("s.transaction_index", 16)} || '5' || ${padded("s.log_index", 16)}`;

const tokens = sql`
  (collection, token_id, owner, is_burned, standard, holders, supply, rank, score, ranked, listing_hash,
   best_offer_hash, last_sale_id)
  select ${hex("c.address")}, t.token_id, ${hex("t.owner")}, t.is_burned, t.standard, (not t.is_burned)::int, t.supply,
         r.rank, r.score, k.tokens, ${orderHash("l.position")}, ${orderHash("b.position")}, s.id
  from ownership.token t join log.contract c using (contract_id)
  left join rarity.token r on r.contract_id = t.contract_id and r.token_id = t.token_id
  left join rarity.collection k on k.collection_id = r.collection_id
  left join lateral (
    select l.position from listings.listing l
    where l.contract_id = t.contract_id and l.token_id = t.token_id and l.status = 'active'
    order by l.unit_price_wei, l.position limit 1
  ) l on true
  left join lateral (
    select b.position from bids.bid b
    where b.contract_id = t.contract_id and (b.token_id = t.token_id or b.token_id is null) and b.status = 'active'
    order by b.seller_net_wei desc, b.position limit 1
  ) b on true
  left join lateral (
    select ${eventId} || '-' || s.ordinal as id from sales.sale s
    where s.contract_id = t.contract_id and s.token_id = t.token_id
    order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit 1
  ) s on true
  where t.owner is not null
  order by t.contract_id, t.block_id, t.log_index`;

const sales = sql`
  (id, collection, token_id, quantity, price, currency, seller, buyer, side, order_hash, exchange, fees,
   block_number, block_hash, transaction_hash, log_index, timestamp, sale_id, total_price, usd, via, wash_rule,
   marketplace, protocol, protocol_version, bundle_size, bundle_total)
  select ${eventId} || '-' || s.ordinal, ${hex("c.address")}, s.token_id, s.quantity, s.price_wei, ${hex("s.currency")},
         ${hex("s.seller")}, ${hex("s.buyer")}, s.side, ${hex("s.order_hash")}, ${hex("s.exchange")},
         (select jsonb_agg(jsonb_build_object('recipient', fee -> 'recipient', 'wei', fee -> 'wei'))
          from jsonb_array_elements(s.fees) fee)::json,
         s.block_number, ${hex("s.block_hash")}, ${hex("s.transaction_hash")}, s.log_index,
         extract(epoch from s.timestamp)::bigint, ${hex("s.sale_id")}, s.total_wei, (${saleUsdE8})::text, ${hex("s.via")},
         w.rule, s.marketplace, s.protocol, s.protocol_version, s.bundle_size, s.bundle_total_wei
  from sales.sale s join log.contract c using (contract_id)
  left join sales.wash_trade w using (block_id, transaction_index, ordinal)
  order by s.block_id, s.transaction_index, s.ordinal`;

const orderColumns = sql`
  (hash, maker, status, collection, token_id, price, counter, updated_at, kind, seller_net, marketplace, is_buyable,
   standard, currency, usd, quantity, filled, fillable, start_time, end_time, created_at, reason, fees)`;

const orderTerms = sql`
  o.standard, ${hex("o.currency")}, (${usdE8Of(sql`o.unit_price_wei`, sql`o.chain_id`, sql`now()`)})::text,
  o.quantity, o.filled`;

const orderState = sql`
  o.start_time, o.end_time, extract(epoch from o.created_at)::bigint, o.reason, o.fees::json`;

const listings = sql`
  ${orderColumns}
  select ${orderHash("o.position")}, ${hex("o.maker")}, o.status, ${hex("c.address")}, o.token_id, o.unit_price_wei, o.counter,
         extract(epoch from o.updated_at)::bigint, null, o.seller_net_wei, o.marketplace, o.is_buyable, ${orderTerms},
         o.fillable, ${orderState}
  from listings.listing o join log.contract c using (contract_id)`;

/** Of another status than listings, so that lists of these do not have them. */
const bids = sql`
  select ${orderHash("o.position")}, ${hex("o.maker")}, 'bid ' || o.status, ${hex("c.address")}, o.token_id, o.unit_price_wei,
         o.counter, extract(epoch from o.updated_at)::bigint, o.kind, o.seller_net_wei, null, null, ${orderTerms}, null,
         ${orderState}
  from bids.bid o join log.contract c using (contract_id)`;

const metadata = sql`
  (collection, token_id, status, name, description, image, animation, content_type, token_uri, attributes, updated_at)
  select ${hex("c.address")}, m.token_id, m.status, m.name, m.description, m.image, m.animation, m.content_type, m.token_uri,
         m.attributes::json, extract(epoch from m.updated_at)::bigint
  from metadata.token m join log.contract c using (contract_id)
  order by m.contract_id, m.token_id`;

const profiles = sql`
  (address, slug, name)
  select ${hex("c.address")}, l.slug, l.name
  from log.contract c left join collections.collection l on l.collection_id = c.contract_id`;

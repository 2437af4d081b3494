import { sql } from "kysely";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { appendStaged, openStage } from "#projections/log/append.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { addressOf, fillPayload, fraction, hashOf } from "../facts.ts";
import { stageBids } from "./bids.ts";
import { appendCollections, chain, type MarketSize, makeCollections } from "./collections.ts";

const BATCH = 50_000;
const ACCOUNTS = 50_000;
/** Number of consecutive tokens with one owner, who lists all of them or none. */
const HOLDING_SIZE = 7;
const LISTED_SHARE = 0.3;
const SALES_IN_BLOCK = 20;
const DAY = 86_400;
const SALE_DAYS = 90;
const FLOOR_DAYS = 31;

/**
 * Fills an empty log with a market: every token minted, three in ten listed by their owner, bids for a quarter, sales of the last months.
 * The first collections are large and have the most sales. Equal sizes and times give equal facts.
 */
export async function appendMarket(db: Database, size: MarketSize, until: Date): Promise<void> {
  await makeCollections(db, size);
  await appendCollections(db, until);
  await appendSnapshots(db, until);
  await Promise.all([
    inBatches(db, size.tokens, stageTokens),
    inBatches(db, size.sales, (session, from, upTo) => {
      return stageSales(session, from, upTo, { ...size, until });
    }),
  ]);
  await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
}

/** Stages and appends in batches; run for tokens and sales concurrently. */
async function inBatches(
  db: Database,
  rows: number,
  stage: (session: Session, from: number, upTo: number) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < rows; from += BATCH) {
    await db.transaction().execute(async (session) => {
      await openStage(session);
      await stage(session, from, Math.min(rows, from + BATCH));
      await appendStaged(session);
    });
  }
}

const holding = `(c.number * 1000003 + (n - c.first) / ${HOLDING_SIZE})`;
const account = (value: string, seed: number) =>
  addressOf("account", `floor(${ACCOUNTS} * power(${fraction(value, seed)}, 2))::bigint`);
const nobody = sql.raw(`'\\x${"00".repeat(20)}'::bytea`);

/** Mints of the tokens numbered [from, upTo), their metadata, their owners' approvals and listings, and bids for them. */
async function stageTokens(session: Session, from: number, upTo: number): Promise<void> {
  await sql`
    create temporary table if not exists market_token (
      n bigint, contract bytea, token_id bigint, owner bytea, name text, is_described boolean, is_listed boolean
    ) on commit delete rows`.execute(session);
  await sql`
    insert into market_token
    select n, c.address, n - c.first, ${sql.raw(account(holding, 3))}, c.name, c.is_described,
           ${sql.raw(fraction(holding, 5))} < ${sql.lit(LISTED_SHARE)}
    from bench.collection c cross join lateral generate_series(
      greatest(c.first, ${from}::bigint), least(c.first + c.tokens, ${upTo}::bigint) - 1) n
    where c.first < ${upTo} and c.first + c.tokens > ${from}`.execute(session);
  await stageChain(session);
  await stageDocuments(session);
  await stageListings(session);
  await stageBids(session, sql.raw(account("n", 15)));
}

async function stageChain(session: Session): Promise<void> {
  const block = (series: string, first: number) => sql`
    ${sql.lit(first)} + n / 200, ${hashOf(series, "n / 200")}, to_timestamp(1700000000 + 12 * (n / 200))`;
  const eventPosition = (series: string) => sql`
    (n % 200)::int / 10, ${hashOf(series, "n / 10")}, (n % 200)::int, 0, contract`;
  await sql`
    insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                        transaction_hash, log_index, sub_index, contract, token_id, from_address, to_address, amount)
    select n, ${sql.lit(factKind.erc721_transfer)}, ${chain}, ${block("mint block", 10_000_000)}, ${eventPosition("mint")}, token_id,
           ${nobody}, owner, null
    from market_token
    union all
    select 100000000 + n, ${sql.lit(factKind.approval_for_all)}, ${chain}, ${block("approval block", 15_000_000)},
           ${eventPosition("approval")}, null, owner, decode(${commonConduit.address.slice(2)}, 'hex'), 1
    from market_token where is_listed and token_id % ${sql.lit(HOLDING_SIZE)} = 0`.execute(session);
}

async function stageDocuments(session: Session): Promise<void> {
  const share = sql.raw(fraction("(n * 16 + t.number)", 7));
  await sql`
    insert into staged (ord, kind, chain_id, contract, token_id, identity, recorded_at, payload)
    select 200000000 + n, ${sql.lit(factKind.token_metadata_fetched)}, ${chain}, contract, token_id, ${hashOf("document", "n")},
           to_timestamp(1710000000),
           jsonb_build_object(
             'status', 'ok', 'tokenUri', 'ipfs://documents/' || n, 'name', name || ' #' || token_id,
             'description', 'One of the ' || name, 'image', 'ipfs://images/' || n || '.png', 'animation', null,
             'contentType', 'image/png', 'attributes', (
               select jsonb_agg(jsonb_build_object(
                 'trait_type', t.name, 'value', t.name || ' ' || floor(t.values * power(${share}, 2.5))))
               from bench.trait_type t))
    from market_token where is_described`.execute(session);
}

async function stageListings(session: Session): Promise<void> {
  const fees = ["service", "royalty"].map(
    (kind, index) => sql`jsonb_build_object(
      'recipient', '0x' || repeat(${sql.lit(`${index + 1}`)}, 40), 'unitWei', '25000000000000', 'kind', ${sql.lit(kind)})`,
  );
  await sql`
    insert into staged (ord, kind, chain_id, contract, token_id, amount, from_address, order_hash, identity,
                        recorded_at, payload)
    select 300000000 + n, ${sql.lit(factKind.order_submitted)}, ${chain}, contract, token_id, 1, owner,
           ${hashOf("order", "n")}, ${hashOf("submission", "n")},
           to_timestamp(1720000000 + floor(40000000 * ${sql.raw(fraction("n", 9))})),
           jsonb_build_object(
             'protocol', 'seaport-1.6', 'signature', '0x' || repeat('5a', 65),
             'components', jsonb_build_object(
               'startTime', '1720000000', 'endTime', (4000000000 + n % 1000000)::text, 'counter', '0', 'orderType', 0),
             'terms', jsonb_build_object(
               'side', 'ask', 'standard', 'erc721', 'tokenId', token_id::text, 'quantity', '1',
               'unitPriceWei', (1000000000000000 * (10 + (n * 7919) % 5000))::text,
               'sellerNetWei', (950000000000000 * (10 + (n * 7919) % 5000))::text,
               'fees', jsonb_build_array(${sql.join(fees)})))
    from market_token where is_listed`.execute(session);
}

/** Fills numbered [from, upTo), in the order of their time; tokens with small numbers are sold most. */
async function stageSales(
  session: Session,
  from: number,
  upTo: number,
  { tokens, sales, until }: MarketSize & { until: Date },
): Promise<void> {
  const blocks = Math.ceil(sales / SALES_IN_BLOCK);
  const token = sql.raw(`floor(${tokens} * power(${fraction("n", 11)}, 2))::bigint`);
  const agoSeconds = sql.raw(
    `floor(${SALE_DAYS * DAY} * power(1 - (n / ${SALES_IN_BLOCK}) / ${blocks}::float8, 1.5))`,
  );
  await sql`
    insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                        transaction_hash, log_index, sub_index, contract, from_address, to_address, order_hash, payload)
    select n, ${sql.lit(factKind.order_fulfilled)}, ${chain}, 20000000 + n / ${sql.lit(SALES_IN_BLOCK)},
           ${hashOf("sale block", `n / ${SALES_IN_BLOCK}`)}, ${until}::timestamptz - interval '1 second' * ${agoSeconds},
           (n % ${sql.lit(SALES_IN_BLOCK)})::int, ${hashOf("sale", "n")}, (n % ${sql.lit(SALES_IN_BLOCK)})::int, 0,
           ${sql.raw(`'\\x${seaportAddresses["1.6"].slice(2)}'::bytea`)}, giver, taker, ${hashOf("filled", "n")},
           ${sql.raw(fillPayload)}
    from (
      select sold.n, c.address as contract, sold.token - c.first as token_id,
             ${sql.raw(account("sold.n", 13))} as giver, ${sql.raw(account("sold.n", 14))} as taker
      from (
        select n, ${token} as token from generate_series(${from}::bigint, ${upTo - 1}::bigint) n
      ) sold
      cross join lateral (
        select * from bench.collection c where c.first <= sold.token order by c.first desc limit 1
      ) c
    ) sale`.execute(session);
}

/** The clock tick, hourly coin prices, and hourly floor snapshots of a month. */
async function appendSnapshots(db: Database, until: Date): Promise<void> {
  const hours = (days: number) => sql`
    generate_series(${until}::timestamptz - interval '1 day' * ${sql.lit(days)}, ${until}, '1 hour') at`;
  const floor = `(1000000000000000 * (10 + floor(100 * ${fraction("(c.number * 100000 + hour)", 31)})))::text`;
  const isMoved = sql.raw(`(hour = 0 or ${fraction("(c.number * 100000 + hour)", 33)} < 0.05)`);
  await db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, identity, recorded_at, amount, payload)
      select row_number() over (order by at), ${sql.lit(factKind.price_ticked)}, 0,
             sha256(convert_to('price' || at::text, 'UTF8')), at, 50000000 + 1000000 * extract(hour from at)::bigint,
             '{"type": "apecoin", "sources": []}'
      from ${hours(SALE_DAYS + 1)}
      union all
      select 1000000 + hour, ${sql.lit(factKind.floor_snapshotted)}, ${chain}, sha256(convert_to('floors' || hour, 'UTF8')), at,
             extract(epoch from at), jsonb_build_object(
               'chainId', ${chain}, 'base', case when hour > 0 then extract(epoch from at)::bigint - 3600 end, 'floors', coalesce((
                 select jsonb_object_agg('0x' || encode(c.address, 'hex'), ${sql.raw(floor)})
                 from bench.collection c where ${isMoved}), '{}'))
      from (select at, row_number() over (order by at) - 1 as hour from ${hours(FLOOR_DAYS)}) one
      union all
      select 2000000, ${sql.lit(factKind.clock_ticked)}, 0, sha256('clock'), ${until}::timestamptz,
             extract(epoch from ${until}::timestamptz), null`.execute(session);
    await appendStaged(session);
  });
}

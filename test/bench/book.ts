import { sql } from "kysely";
import { commonConduit } from "#abis/deployments.ts";
import { openWindow } from "#projections/engine/fact-window.ts";
import { appendStaged, openStage } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { orderEvents } from "#projections/orders/order-events.ts";
import { type Figure, medianFigure, percentileFigures } from "./figure.ts";
import { deriveTargets, projections, timed, withDatabase } from "./server.ts";

const CONTRACTS = 2_000;
const MAKERS = 50_000;
const BATCH = 50_000;
const TRANSFERS = 200;
const WARM_UPS = 20;

/**
 * With `facts` active listings: the first tick that tells of them, which is all of them, and the cost of one transfer,
 * finding the token's listings and recomputing their state.
 */
export async function run({ facts: listings }: { facts: number }): Promise<Figure[]> {
  return await withDatabase(async (db) => {
    for (let from = 0; from < listings; from += BATCH) {
      await appendListed(db, from, Math.min(from + BATCH, listings));
    }
    await sql`vacuum analyze log.fact, log.block, log.transaction, log.contract`.execute(db);
    const targets = await deriveTargets(db, projections);
    await sql`vacuum analyze`.execute(db);
    const active = await countActive(db);
    if (active !== listings) throw new Error(`${active} of ${listings} listings are active`);

    const told = await timed(() => tellFirst(db));
    const durationsMs: number[] = [];
    for (let number = 0; number < WARM_UPS + TRANSFERS; number += 1) {
      durationsMs.push(await applyTransfer(db, targets, (number * 7_919) % listings, number));
    }
    const size = `${listings} active listings; of ${TRANSFERS} transfers each recomputed one listing`;
    const percentiles = [
      { percent: 50, goalMs: 5 },
      { percent: 95, goalMs: null },
    ];
    return [
      medianFigure(
        "book, told the first time",
        [told / 1_000],
        { unit: "s" },
        `${listings} listings`,
      ),
      ...percentileFigures("book, a transfer,", durationsMs.slice(WARM_UPS), percentiles, size),
    ];
  });
}

const address = (series: string, number: string) =>
  sql.raw(`substr(sha256(convert_to('${series}' || (${number}), 'UTF8')), 1, 20)`);
const contractOf = (contracts: number) => address("contract", `n % ${contracts}`);
const contract = contractOf(CONTRACTS);
const maker = address("maker", `n % ${MAKERS}`);

/** Tokens [from, upTo), each minted, approved and listed by its maker, of so many contracts in turn. */
export async function appendListed(
  db: Database,
  from: number,
  upTo: number,
  contracts = CONTRACTS,
): Promise<void> {
  const contract = contractOf(contracts);
  const range = sql`generate_series(${from}::bigint, ${upTo - 1}::bigint) n`;
  const block = sql`n / 100 + 1, sha256(convert_to('block' || (n / 100), 'UTF8')), to_timestamp(1700000000 + n / 100)`;
  const event = sql`(n % 100)::int, sha256(convert_to('transaction' || n, 'UTF8'))`;
  await db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                          transaction_hash, log_index, sub_index, contract, token_id, from_address, to_address, amount)
      select n * 2, ${sql.lit(factKind.erc721_transfer)}, 1, ${block}, ${event}, (n % 100)::int * 2, 0, ${contract}, n,
             decode(repeat('00', 20), 'hex'), ${maker}, null
      from ${range}
      union all
      select n * 2 + 1, ${sql.lit(factKind.approval_for_all)}, 1, ${block}, ${event}, (n % 100)::int * 2 + 1, 0,
             ${contract}, null, ${maker}, decode(${commonConduit.address.slice(2)}, 'hex'), 1
      from ${range} where n < ${MAKERS}`.execute(session);
    await sql`
      insert into staged (ord, kind, chain_id, contract, token_id, amount, from_address, order_hash, identity,
                          recorded_at, payload)
      select 1000000000 + n, ${sql.lit(factKind.order_submitted)}, 1, ${contract}, n, 1, ${maker},
             sha256(convert_to('order' || n, 'UTF8')), sha256(convert_to('identity' || n, 'UTF8')),
             to_timestamp(1700000000),
             jsonb_build_object(
               'protocol', 'seaport-1.6', 'signature', '0x' || repeat('5a', 65),
               'components', jsonb_build_object('startTime', '1700000000', 'endTime', '4000000000', 'counter', '0', 'orderType', 0),
               'terms', jsonb_build_object(
                 'side', 'ask', 'standard', 'erc721', 'tokenId', n::text, 'quantity', '1',
                 'unitPriceWei', (1000000 + (n * 7919) % 1000000)::text, 'sellerNetWei', '990000',
                 'fees', jsonb_build_array()))
      from ${range}`.execute(session);
    await appendStaged(session);
  });
}

async function countActive(db: Database): Promise<number> {
  const { rows } = await sql<{ active: number }>`
    select count(*)::int as active from listings.listing where status = 'active'`.execute(db);
  return rows[0]?.active ?? 0;
}

async function tellFirst(db: Database): Promise<void> {
  const upTo = await readLogHead(db);
  await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute((session) => orderEvents.write(session, { after: upTo, upTo }));
}

/** Transfers a listed token and applies that. Returns the milliseconds that the listings projection listingsMs. */
async function applyTransfer(
  db: Database,
  targets: Awaited<ReturnType<typeof deriveTargets>>,
  token: number,
  number: number,
): Promise<number> {
  const upTo = await appendTransfer(db, token, number);
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      const window = await openWindow(session, { after: upTo - 1n, upTo });
      let listingsMs = 0;
      for (const { projection, schema } of targets) {
        const ms = await timed(() => projection.apply(session, schema, window));
        if (projection.name === "listings") listingsMs = ms;
      }
      const { rows } = await sql<{ recomputed: number }>`
        select count(*)::int as recomputed from pg_temp.recompute_listing`.execute(session);
      if (rows[0]?.recomputed !== 1)
        throw new Error(`a transfer recomputed ${rows[0]?.recomputed} listings`);
      await sql`update engine.checkpoint set position = ${upTo}`.execute(session);
      return listingsMs;
    });
}

async function appendTransfer(db: Database, token: number, number: number): Promise<bigint> {
  const height = 1_000_000 + number;
  return await db.transaction().execute(async (session) => {
    await openStage(session);
    await sql`
      insert into staged (ord, kind, chain_id, block_number, block_hash, block_timestamp, transaction_index,
                          transaction_hash, log_index, sub_index, contract, token_id, from_address, to_address)
      select 1, ${sql.lit(factKind.erc721_transfer)}, 1, ${height}::bigint,
             sha256(convert_to('late block' || ${`${number}`}, 'UTF8')), to_timestamp(1800000000), 0,
             sha256(convert_to('late' || ${`${number}`}, 'UTF8')), 0, 0, ${contract}, n, ${maker}, ${address("buyer", "1")}
      from (select ${token}::bigint as n) one`.execute(session);
    return (await appendStaged(session)).head;
  });
}

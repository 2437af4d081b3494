import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openWindow } from "#projections/engine/fact-window.ts";
import { appendObservations } from "#projections/log/append.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { orderEvents } from "#projections/orders/order-events.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { addressOf, appendEvents, block, project } from "#test/support/database/given.ts";
import { approval, givenListing, transferred } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const log = await openProjectedLog([ownershipProjection, listingsProjection, bidsProjection]);
const { db } = log;
afterAll(() => log.drop());

const [maker, other] = [addressOf(1), addressOf(2)];
/** Listings, each of a token of a contract of its own. */
const LISTINGS = 400;
const contracts = Array.from({ length: LISTINGS }, (_, index) => addressOf(1_000 + index));
const tokenId = 1n;

beforeAll(async () => {
  await log.clear();
  const targets = await log.emptyTargets();
  await appendEvents(
    db,
    contracts.flatMap((contract, log) => [
      approval(contract, maker, true, { at: block(1, 1), log }),
      transferred({ contract, tokenId, to: maker }, { at: block(1, 2), log }),
    ]),
  );
  await project(db, targets);
  await appendObservations(
    db,
    contracts.map((contract) => givenListing({ maker, contract, tokenId }).submitted),
  );
  await project(db, targets);
  await sql`vacuum analyze`.execute(db);
});

/** Rows that telling of a window's facts reads of the book and of the orders' tables. */
async function rowsRead(after: bigint, upTo: bigint): Promise<number> {
  return await db.transaction().execute(async (session) => {
    const count = async () => {
      const { rows } = await sql<{ rows: bigint }>`
        select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::bigint as rows from pg_stat_xact_user_tables
        where schemaname in ('engine', ${schemaOf("listings")}, ${schemaOf("bids")})`.execute(
        session,
      );
      return Number(rows[0]?.rows);
    };
    await sql`set local plan_cache_mode = force_generic_plan`.execute(session);
    const window = await openWindow(session, { after, upTo });
    for (const { apply, name } of [ownershipProjection, listingsProjection, bidsProjection])
      await apply(session, schemaOf(name), window);
    const before = await count();
    await orderEvents.write(session, window);
    return (await count()) - before;
  });
}

it("telling of what a block changed reads what it changed, not the book", async () => {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(db);
  const after = rows[0]?.position ?? 0n;
  const [first = other, second = other] = contracts;
  await appendEvents(
    db,
    [first, second].map((contract, log) =>
      transferred({ contract, tokenId, from: maker, to: other }, { at: block(1, 3), log }),
    ),
  );
  expect(await rowsRead(after, after + 2n)).toBeLessThan(40);
  const { rows: told } = await sql<{ type: string; events: bigint }>`
    select type, count(*) as events from engine.order_event where position > ${after} group by type order by type`.execute(
    db,
  );
  expect(told.map(({ type, events }) => `${type} ${events}`)).toEqual([
    "floor_changed 2",
    "order_invalidated 2",
  ]);
});

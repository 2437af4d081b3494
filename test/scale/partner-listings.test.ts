import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { contractsOfCollection, orderFigures } from "#projections/collections/read-figures.ts";
import { openWindow } from "#projections/engine/fact-window.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { termColumns } from "#projections/orders/listing-terms.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { type ListingFilter, readListingPage } from "#projections/orders/read-listings.ts";
import { addressOf, appendEvents, block, createProjection } from "../support/database/given.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { feeRecipient, transferred } from "../support/orders/order-facts.ts";

/** Of a chain whose partners show a thousand times what the house has. */
const rows = 100_000;
const now = new Date("2026-03-10T12:00:00.000Z");
const nft = addressOf(50);

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  for (const projection of allProjections({ feeRecipient })) await createProjection(db, projection);
  const owned = { contract: nft, to: addressOf(1), tokenId: 7n };
  await appendEvents(db, [transferred(owned, { at: block(1, 1) })]);
  await sql`
    insert into listings.listing (${termColumns}, status, filled, fillable, updated_at)
    select sha256(n::text::bytea), 1, n, case when n % 1000 = 3 then 'native' when n % 20 = 7 then 'magiceden'
                                              else 'opensea' end,
           1 + n % 20, n / 20, 721, substr(sha256((n % 500)::text::bytea), 1, 20), null,
           1000 + (n::bigint * 7919) % 100000, 900, 1, 1700000000, 4000000000 + n, 0, '[]', true,
           n % 1000 = 6, true, true, false, ${now}::timestamptz - n * interval '1 second', ${now}::timestamptz, 'active', 0, 1,
           ${now}::timestamptz
    from generate_series(1, ${rows}::int) n`.execute(db);
  await sql`
    insert into listings.count
    select chain_id, contract_id, marketplace, status, count(*) from listings.listing group by 1, 2, 3, 4`.execute(
    db,
  );
  await sql`
    insert into log.contract (contract_id, chain_id, address) overriding system value
    select n, 1, substr(sha256(n::text::bytea), 1, 20) from generate_series(2, 20) n`.execute(db);
  await sql`insert into collection_stats.contract (contract_id, chain_id, collection_id) values (7, 1, 7)`.execute(
    db,
  );
  await sql`vacuum analyze`.execute(db);
});
afterAll(() => database?.drop());

/** Rows of the table that some work rowsRead at, none of them by reading all. */
async function countRowsRead(work: (session: Database) => Promise<unknown>): Promise<number> {
  return await database.db.transaction().execute(async (session) => {
    const before = await readLooks(session);
    await work(session);
    const after = await readLooks(session);
    expect(after.scans).toBe(before.scans);
    return after.rows - before.rows;
  });
}

/** Rows read by the connection so far. */
async function readLooks(session: Session): Promise<{ scans: bigint; rows: number }> {
  const { rows } = await sql<{ scans: bigint; rows: number }>`
    select seq_scan as scans, (seq_tup_read + idx_tup_fetch)::int as rows
    from pg_stat_xact_user_tables where relid = 'listings.listing'::regclass`.execute(session);
  return rows[0] ?? { scans: 0n, rows: 0 };
}

const every: ListingFilter = {
  ...{ chainId: 1, contractIds: null, tokenId: null, maker: null, status: "active" },
  ...{ marketplace: null, minPriceWei: null, maxPriceWei: null },
};

describe("among a thousand listings of partners for each of the house's own", () => {
  it.each<[string, Partial<ListingFilter>]>([
    ["of all marketplaces", {}],
    ["of the house", { marketplace: "native" }],
    ["of the lesser partner", { marketplace: "magiceden" }],
    ["of some collections", { contractIds: [2, 7] }],
    ["that cost at least so much", { marketplace: "native", minPriceWei: 50_000n }],
  ])("a page %s reads few rows, in any order", async (_, query) => {
    const slice = { limit: 20, offset: 0, after: null };
    for (const sort of ["price_asc", "price_desc", "created_at"] as const) {
      const rowsRead = await countRowsRead(async (session) => {
        const page = await readListingPage(session, { ...every, ...query }, sort, slice, now);
        expect(page.rows).toHaveLength(20);
      });
      expect(rowsRead).toBeLessThan(250);
    }
  });

  it("a collection's cheapest listing that can be bought is found among many that cannot", async () => {
    const rowsRead = await countRowsRead(async (session) => {
      const { rows } = await sql<{ floor: object; floor_buyable: object }>`
        select figures.floor, figures.floor_buyable from (select 7 as collection_id) f
        cross join lateral (${orderFigures(contractsOfCollection, sql`true`)}) figures`.execute(
        session,
      );
      expect(rows[0]?.floor).toMatchObject({ marketplace: "opensea", isBuyable: false });
    });
    expect(rowsRead).toBeLessThan(20);
  });

  it("a transfer recomputes only its token's listings", async () => {
    const moved = { contract: nft, from: addressOf(1), to: addressOf(2), tokenId: 7n };
    const { head } = await appendEvents(database.db, [transferred(moved, { at: block(1, 2) })]);
    const rowsRead = await countRowsRead(async (session) => {
      const window = await openWindow(session, { after: head - 1n, upTo: head });
      await listingsProjection.apply(session, "listings", window);
    });
    expect(rowsRead).toBeLessThan(20);
  });
});

import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { readCollectionKeys } from "#projections/collections/read-collections.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { addressOf } from "#test/support/database/given.ts";
import { plansOf } from "#test/support/database/plans.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog(allProjections({ feeRecipient: addressOf(99) }));
afterAll(() => book.drop());

const collections = 30_000;
const all = sql`from generate_series(1, ${sql.lit(collections)}) n`;

/** One of a hundred collections was ever listed and traded. */
beforeAll(async () => {
  await book.emptyTargets();
  const figure = sql`case when n % 100 = 0 then n end`;
  await sql`
    insert into collection_stats.collection (
      collection_id, chain_id, verified, listed, sales_24h, wei_24h, floor_wei, change_24h)
    select n, 1, false, coalesce(${figure}, 0), coalesce(${figure}, 0), coalesce(${figure}, 0), ${figure}, ${figure}
    ${all}`.execute(book.db);
  await sql`
    insert into collection_stats.holder_stats (collection_id, chain_id, verified, supply, holders)
    select n, 1, false, n, n ${all}`.execute(book.db);
  await sql`analyze collection_stats.collection, collection_stats.holder_stats`.execute(book.db);
});

const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;
const orders = sorts.flatMap((sort) =>
  (["asc", "desc"] as const).map((direction) => [sort, direction] as const),
);
const filter = { chainId: 1, search: null, verified: null };
/** Without an alias these are the tables of figures. */
const ofAllFigures = /Seq Scan on (collection|holder_stats) +\(/;

it.each(orders)(
  "by %s %s reads indexes, of a few collections with the figure and many without",
  async (sort, direction) => {
    const order = { sort, direction, period: "24h", excludesWash: false } as const;
    for (const after of [null, { sortKey: 0n, collectionId: 20_000 }]) {
      const slice = { limit: 51, offset: 0, after };
      const read = (db: Database) => readCollectionKeys(db, filter, order, slice);
      expect(await plansOf(book.db, read)).not.toMatch(ofAllFigures);
    }
  },
);

/** Its key, and that of lists by id. */
it("keeps collections without orders and sales out of the indexes of figures", async () => {
  const { rows } = await sql<{ index: string; rows: number }>`
    select c.relname as index, c.reltuples::int as rows
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
    where t.relname = 'collection' and t.relnamespace = ${schemaOf("collection_stats")}::regnamespace`.execute(
    book.db,
  );
  expect(rows.filter((index) => index.rows >= collections)).toHaveLength(2);
});

import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrappedNative } from "#chains/index.ts";
import { allProjections } from "#projections/all.ts";
import { firstBlockId } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { type BidFilter, readBidPage } from "#projections/orders/read-bids.ts";
import { readListingPage } from "#projections/orders/read-listings.ts";
import type { ListedStatus } from "#projections/orders/read-orders.ts";
import { fillDays } from "#projections/sales/counts.ts";
import { readSale } from "#projections/sales/read-sale.ts";
import { anyTrade, type TradeFilter } from "#projections/sales/read-sale-filter.ts";
import { readSales } from "#projections/sales/read-sales.ts";
import { addressOf, createProjection } from "../support/database/given.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { feeRecipient } from "../support/orders/order-facts.ts";

/** Ten in a block, over 116 days, of 30 contracts and 1,000 wallets; one in 10,000 on a rare marketplace, and
 * one by a rare protocol. */
const sales = 200_000;
/** Of 30 contracts, 500 makers and 2,000 ids; nine of ten have ended. */
const orders = 100_000;
/** Bids on sets, each its own: of each contract one in 50 in the chunk of the ids above, one in three of these with all of them. */
const setBids = 30_000;
const wallet: Hex = addressOf(7);
const walletOf = (number: string) =>
  sql.raw(`decode(lpad(to_hex(40960 + ${number}), 40, '0'), 'hex')`);
const now = new Date(1_700_000_000_000);

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  ({ db } = database);
  for (const projection of allProjections({ feeRecipient })) await createProjection(db, projection);
  await seedSales();
  await seedOrders();
  await db.transaction().execute((session) => fillDays(session, schemaOf("sales")));
  await sql`vacuum analyze`.execute(db);
  await forgetRareMarkets();
});
afterAll(() => database?.drop());

async function seedSales(): Promise<void> {
  await sql`
    insert into log.contract (contract_id, chain_id, address) overriding system value
    select n, 1, substr(sha256(n::text::bytea), 1, 20) from generate_series(1, 30) n`.execute(db);
  const weth = Buffer.from(wrappedNative[1].slice(2), "hex");
  await sql`
    insert into sales.sale
    select ${sql.lit(firstBlockId(1, 0n))} + ((n / 10)::bigint << 12), n % 10, 0, sha256(n::text::bytea), 1, 1 + n % 30, n % 1000, 1,
           5, 5, case when n % 5000 = 7 then ${weth} else decode(repeat('00', 20), 'hex') end, ${walletOf("n % 1000")},
           ${walletOf("(n * 7) % 1000")}, 'ask', case when n % 10000 = 3 then 'rare' else 'opensea' end, case when n % 10000 = 5 then 'rare' else 'seaport' end, '1.6',
           '\\x01', null, '[]', null, null, 1, '\\x02', n / 10, '\\x03', to_timestamp(1690000000 + n * 50), null, false
    from generate_series(1, ${sales}::int) n`.execute(db);
}

/** As the planner sees a table whose sample met neither the rare marketplace nor the rare protocol nor the rare coin. */
async function forgetRareMarkets(): Promise<void> {
  for (const column of ["marketplace", "protocol", "currency"])
    await sql`alter table sales.sale alter column ${sql.ref(column)} set (n_distinct = 1)`.execute(
      db,
    );
  await sql`analyze sales.sale`.execute(db);
}

async function seedOrders(): Promise<void> {
  const status = sql`
    case n % 20 when 0 then 'active' when 1 then 'inactive' when 2 then 'cancelled' when 3 then 'expired' else 'filled' end`;
  const shared = sql`
    sha256(n::text::bytea) as order_hash, 1 as chain_id, n as position, 1 + n % 30 as contract_id, n % 2000 as token_id,
    721 as standard, ${walletOf("n % 500")} as maker, n % 977 as unit_price_wei, n % 911 as seller_net_wei, 1 as quantity,
    1 as start_time, 1800000000 as end_time, 0 as counter, '[]'::jsonb as fees, false as is_contract_signed,
    to_timestamp(1690000000 + n) as created_at, ${status} as status, 0 as filled, now() as updated_at`;
  const columns = sql.raw(
    "order_hash, chain_id, position, contract_id, token_id, standard, maker, unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at, status, filled, updated_at",
  );
  await sql`
    insert into listings.listing (${columns}, marketplace, is_conduit_known, is_buyable, is_visible, is_filled_whole, last_seen_at, fillable)
    select ${shared}, 'native', true, true, true, true, now(), 1 from generate_series(1, ${orders}::int) n`.execute(
    db,
  );
  await sql`
    insert into bids.bid (${columns}, kind, currency)
    select ${shared}, 'single-token', '\\x01' from generate_series(1, ${orders}::int) n`.execute(
    db,
  );
  const set = sql`sha256((-n)::text::bytea)`;
  await sql`
    insert into bids.bid (${columns}, kind, currency, criteria)
    select ${set}, s.chain_id, ${orders}::int + n, s.contract_id, null, s.standard, s.maker, s.unit_price_wei, s.seller_net_wei,
           s.quantity, s.start_time, s.end_time, s.counter, s.fees, s.is_contract_signed, s.created_at, s.status, s.filled,
           s.updated_at, 'token-list', '\\x01', ${set}
    from (select n, ${shared} from generate_series(1, ${setBids}::int) n) s`.execute(db);
  await sql`
    insert into bids.token_set_chunk (contract_id, root, chunk, bits)
    select 1 + n % 30, ${set}, n / 30 % 50, case when n % 3 = 0 then ~ 0::bit(1024) else set_bit(0::bit(1024), 1023, 1) end
    from generate_series(1, ${setBids}::int) n`.execute(db);
  for (const [schema, dimension] of [
    ["listings", "marketplace"],
    ["bids", "kind"],
  ] as const) {
    const table = sql.table(schema === "listings" ? "listings.listing" : "bids.bid");
    await sql`
      insert into ${sql.table(`${schema}.count`)}
      select chain_id, contract_id, ${sql.ref(dimension)}, status, count(*) from ${table} group by 1, 2, 3, 4`.execute(
      db,
    );
  }
}

type Looks = { scans: bigint; rows: number };

async function readLooks(session: Database): Promise<Looks> {
  const { rows } = await sql<Looks>`
    select sum(seq_scan)::bigint as scans, sum(seq_tup_read + idx_tup_fetch)::int as rows
    from pg_stat_xact_user_tables
    where relid in ('sales.sale'::regclass, 'sales.day'::regclass, 'listings.listing'::regclass, 'bids.bid'::regclass,
                    'bids.token_set_chunk'::regclass)`.execute(session);
  return rows[0] ?? { scans: 0n, rows: 0 };
}

/** Rows of the large tables that a read looks at, none of them by reading a table from end to end. */
async function countRowsRead(work: (session: Database) => Promise<unknown>): Promise<number> {
  return await db.transaction().execute(async (session) => {
    const before = await readLooks(session);
    await work(session);
    const after = await readLooks(session);
    expect(after.scans).toBe(before.scans);
    return after.rows - before.rows;
  });
}

const limit = 51;
const middle = { blockId: firstBlockId(1, 10_000n), transactionIndex: 0, ordinal: 0 };
const at = (seconds: number) => new Date(seconds * 1000);

describe("a page of sales with its total", () => {
  it.each<[string, Partial<TradeFilter>, readonly number[] | null, number]>([
    ["of a buyer", { buyer: wallet }, null, 700],
    ["of a seller", { seller: wallet }, null, 700],
    ["of a wallet", { wallet }, null, 1_400],
    ["of a wallet and a rare marketplace", { wallet, marketplace: "rare" }, null, 1_400],
    ["of a marketplace that is common", { marketplace: "opensea" }, null, 1_500],
    ["of a marketplace that is rare", { marketplace: "rare" }, null, 1_500],
    ["of a protocol that is common", { protocol: "seaport" }, null, 1_500],
    ["of a protocol that is rare", { protocol: "rare" }, null, 1_500],
    ["of a protocol without sales", { protocol: "none" }, null, 1_500],
    ["of both", { protocol: "rare", marketplace: "opensea" }, null, 1_500],
    ["of a wallet and a rare protocol", { wallet, protocol: "rare" }, null, 1_400],
    ["of a contract and a rare protocol", { protocol: "rare" }, [6], 8_000],
    ["of a currency that is rare", { currency: wrappedNative[1] }, null, 1_500],
    ["of a marketplace without sales", { marketplace: "none" }, null, 700],
    ["of an hour", { since: at(1_695_000_000), until: at(1_695_003_600) }, null, 1_500],
    ["of some days", { since: at(1_695_000_000), until: at(1_696_000_000) }, null, 5_000],
    ["since a time", { since: at(1_699_900_000) }, null, 5_000],
    ["of a contract in some days", { since: at(1_695_000_000) }, [7], 5_000],
    ["of a contract and a rare marketplace", { marketplace: "rare" }, [4], 8_000],
  ])("%s is found by an index, at any depth", async (_of, trade, contractIds, most) => {
    const filter = { chainId: 1, contractIds, tokenId: null, traits: [], traitKeys: [] };
    for (const after of [null, middle]) {
      const rowsRead = await countRowsRead((session) =>
        readSales(
          session,
          { ...filter, trade: { ...anyTrade, ...trade } },
          { limit, offset: 0, after },
        ),
      );
      expect(rowsRead).toBeLessThan(most);
    }
  });

  it("is one row for an id", async () => {
    const rowsRead = await countRowsRead((session) => readSale(session, 1, `0x${"ab".repeat(32)}`));
    expect(rowsRead).toBeLessThan(3);
  });
});

describe("a page of orders with its total", () => {
  const filter = { chainId: 1, contractIds: null, tokenId: null, maker: null };
  const statuses: ListedStatus[] = ["filled", "cancelled", "expired", "all"];
  const slice = { limit, offset: 0, after: null };
  const prices = { marketplace: null, minPriceWei: null, maxPriceWei: null };

  it.each(statuses)("that are %s is read of the maker or the token alone", async (status) => {
    for (const only of [
      { maker: wallet },
      { tokenId: 7n },
      { tokenId: 7n, contractIds: [8] },
      { maker: wallet, contractIds: [8] },
    ]) {
      for (const sort of ["price_asc", "created_at"] as const) {
        const ofBoth = { ...filter, ...only, status };
        const rowsRead = await countRowsRead(async (session) => {
          await readListingPage(session, { ...ofBoth, ...prices }, sort, slice, now);
          await readBidPage(session, { ...ofBoth, kind: null }, sort, slice, now);
        });
        expect(rowsRead).toBeLessThan(2_000);
      }
    }
  });

  it.each<[string, Partial<BidFilter>]>([
    ["a chain", {}],
    ["a contract", { contractIds: [7] }],
    ["a maker", { maker: wallet }],
    ["a token", { tokenId: 7n, contractIds: [8] }],
  ])("by the seller's net of %s is a scan of an index", async (_of, only) => {
    for (const sort of ["seller_net_desc", "seller_net_asc"] as const) {
      const bids = { ...filter, ...only, status: "active" as const, kind: null };
      const rowsRead = await countRowsRead((session) =>
        readBidPage(session, bids, sort, slice, now),
      );
      expect(rowsRead).toBeLessThan(300);
    }
  });
});

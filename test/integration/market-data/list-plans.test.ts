import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blockIdRange } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { readBidPage } from "#projections/orders/read-bids.ts";
import { readBidDepth, readListingDepth } from "#projections/orders/read-depth.ts";
import { readListingPage } from "#projections/orders/read-listings.ts";
import { anyTrade } from "#projections/sales/read-sale-filter.ts";
import { readSales } from "#projections/sales/read-sales.ts";
import { readTraitKeysOfChain } from "#projections/traits/read-tokens-with-traits.ts";
import { plansOf } from "#test/support/database/plans.ts";
import { openTokenReads, type TokenReads } from "#test/support/market-data/token-reads.ts";

let reads: TokenReads;
beforeAll(async () => {
  reads = await openTokenReads();
  await reads.clear();
  await fill(reads.db);
});
afterAll(() => reads.close());

const { from } = blockIdRange(1);
const address = sql`decode(lpad(to_hex(n % 500), 40, '0'), 'hex')`;
const hash = sql`sha256(n::text::bytea)`;

/** Rows enough for a scan of a whole table to cost more than any index. */
async function fill(db: Database): Promise<void> {
  const rows = sql`from generate_series(1, 30000) n`;
  const order = sql`
    1155, ${address}, n, n, 1, 0, 4102444800, 0, '[]', false, now(), 'active', 0`;
  const orderColumns = sql`
    standard, maker, unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees,
    is_contract_signed, created_at, status, filled`;
  await sql`
    insert into sales.sale (
      block_id, transaction_index, ordinal, sale_id, chain_id, contract_id, token_id, quantity, price_wei, total_wei,
      currency, seller, buyer, side, marketplace, protocol, protocol_version, exchange, fees, log_index,
      transaction_hash, block_number, block_hash, timestamp, is_erc1155)
    select ${from}::bigint + n, 0, 0, ${hash}, 1, n % 300, n % 7000, 1, n, n, '', ${address}, ${address}, 'ask', 'x', 'x',
           'x', '', '[]', 0, ${hash}, n, ${hash}, now(), false ${rows}`.execute(db);
  await sql`
    insert into listings.listing (
      order_hash, chain_id, position, marketplace, contract_id, token_id, is_conduit_known, is_buyable, is_visible,
      is_filled_whole, last_seen_at, fillable, updated_at, ${orderColumns})
    select ${hash}, 1, n, 'native', n % 300, n % 7000, true, true, true, true, now(), 1, now(), ${order} ${rows}`.execute(
    db,
  );
  await sql`
    insert into bids.bid (
      order_hash, chain_id, position, kind, contract_id, token_id, currency, updated_at, ${orderColumns})
    select ${hash}, 1, n, 'single-token', n % 300, n % 7000, '', now(), ${order} ${rows}`.execute(
    db,
  );
  await sql`
    insert into bids.bid (
      order_hash, chain_id, position, kind, contract_id, criteria, currency, updated_at, ${orderColumns})
    select sha256((-n)::text::bytea), 1, 30000 + n, 'token-list', n % 300, ${hash}, '', now(), ${order} ${rows}`.execute(
    db,
  );
  await sql`
    insert into bids.token_set_chunk (contract_id, root, chunk, bits)
    select n % 300, ${hash}, n % 7, set_bit(0::bit(1024), n % 1024, 1) ${rows}`.execute(db);
  await sql`
    insert into traits.trait (
      contract_id, trait_key, match_key, type, type_key, value, is_number, is_numeric, tokens, live, listed)
    select n % 300, md5(n::text)::uuid, md5((n % 900)::text)::uuid, 'x', 'x', 'x', false, false, 1, 1, 0
    ${rows}`.execute(db);
  for (const table of [
    ...["sales.sale", "listings.listing", "bids.bid", "bids.token_set_chunk", "traits.trait"],
  ]) {
    await sql`analyze ${sql.table(table)}`.execute(db);
  }
}

const slice = { limit: 51, offset: 0, after: null };
const now = new Date();
const any = { contractIds: null, maker: null, tokenId: null } as const;

describe("the depth of a collection reads an index", () => {
  it.each([
    ["listings", readListingDepth, /listing_contract_id_.*unit_price_wei/],
    ["bids", readBidDepth, /bid_contract_id_status_unit_price_wei/],
  ] as const)("of %s", async (_, read, index) => {
    const plan = await plansOf(reads.db, (db) => read(db, [5, 6], 50, now));
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/Seq Scan on (listing|bid) /);
  });
});

describe("bids on a token, and on sets that hold it, read indexes", () => {
  const order = { ...any, chainId: 1, contractIds: [5, 6], tokenId: 5n, kind: null } as const;
  it.each(
    (["price_asc", "created_at", "seller_net_desc"] as const).flatMap((sort) =>
      (["active", "filled", "all"] as const).map((status) => [sort, status] as const),
    ),
  )("by %s, of status %s", async (sort, status) => {
    const plan = await plansOf(reads.db, (db) =>
      readBidPage(db, { ...order, status }, sort, slice, now),
    );
    expect(plan).toMatch(/token_set_chunk_pkey/);
    expect(plan).toMatch(/bid_contract_id_criteria_status/);
    expect(plan).toMatch(/bid_(contract_id_)?token_id_/);
    expect(plan).not.toMatch(/Seq Scan on (bid|token_set_chunk) /);
  });
});

describe("lists without a collection read an index", () => {
  const trade = anyTrade;
  const sale = { chainId: 1, contractIds: null, tokenId: 5n, traits: [], traitKeys: [], trade };
  const order = { ...any, chainId: 1, tokenId: 5n, status: "active" } as const;
  const listing = { ...order, marketplace: null, minPriceWei: null, maxPriceWei: null };

  it.each([
    ["sales of a token id", (db) => readSales(db, sale, slice), /sale_token_id on sale/],
    ...(["protocol", "marketplace"] as const).map(
      (one): [string, (db: Database) => Promise<unknown>, RegExp] => [
        `sales of a ${one}`,
        (db) => readSales(db, { ...sale, tokenId: null, trade: { ...trade, [one]: "x" } }, slice),
        /sale_marketplace on sale/,
      ],
    ),
    [
      "sales of tokens with traits",
      (db) => readTraitKeysOfChain(db, 1, [["Fur", "Gold"]], 1000),
      /trait_match_key_contract_id_idx on trait/,
    ],
    ...(["price_asc", "price_desc", "created_at"] as const).flatMap(
      (sort): [string, (db: Database) => Promise<unknown>, RegExp][] => [
        [
          `listings of a token id by ${sort}`,
          (db) => readListingPage(db, listing, sort, slice, now),
          /listing_token_id_chain_id_status/,
        ],
        [
          `bids on a token id by ${sort}`,
          (db) => readBidPage(db, { ...order, kind: null }, sort, slice, now),
          /bid_token_id_chain_id_status/,
        ],
      ],
    ),
  ] satisfies [string, (db: Database) => Promise<unknown>, RegExp][])(
    "%s",
    async (_, read, index) => {
      const plan = await plansOf(reads.db, read);
      expect(plan).toMatch(index);
      expect(plan).not.toMatch(/Seq Scan on (sale|listing|bid|trait|token_bitmap) /);
    },
  );
});

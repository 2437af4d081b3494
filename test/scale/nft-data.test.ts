import { sql } from "kysely";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ActivityKey,
  type ActivityRow,
  readActivity,
  readOrders,
} from "#projections/activity/read-activity.ts";
import type { ActivityFilter } from "#projections/activity/read-event-scans.ts";
import { readEvents, readTransactionEvents } from "#projections/activity/read-events.ts";
import { allProjections } from "#projections/all.ts";
import { firstBlockId } from "#projections/log/blocks.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { zeroAddress } from "#projections/log/sql-values.ts";
import { readHolders } from "#projections/tokens/read-holders.ts";
import { readWalletTokens } from "#projections/tokens/read-wallet-tokens.ts";
import { addressOf, createProjection } from "../support/database/given.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { feeRecipient } from "../support/orders/order-facts.ts";

/** Ten in a block, of 30 contracts and 1,000 wallets; a burn among 100,000. */
const events = 300_000;
const orders = 60_000;
const wallet: Hex = addressOf(7);
const walletOf = (number: string) =>
  sql.raw(`decode(lpad(to_hex(40960 + ${number}), 40, '0'), 'hex')`);

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  ({ db } = database);
  for (const projection of allProjections({ feeRecipient })) await createProjection(db, projection);
  await seedChain();
  await seedOwners();
  await sql`vacuum analyze`.execute(db);
});
afterAll(() => database?.drop());

const blockOf = sql`${sql.lit(firstBlockId(1, 0n))} + ((n / 10)::bigint << 12)`;

async function seedChain(): Promise<void> {
  await sql`
    insert into log.contract (contract_id, chain_id, address) overriding system value
    select n, 1, substr(sha256(n::text::bytea), 1, 20) from generate_series(1, 30) n`.execute(db);
  await sql`
    insert into log.block
    select ${blockOf}, 1, n / 10, sha256(n::text::bytea), to_timestamp(1700000000 + n / 10)
    from generate_series(0, ${events}::int, 10) n`.execute(db);
  await sql`
    insert into log.transaction
    select ${blockOf}, n % 10, sha256(n::text::bytea) from generate_series(0, ${events}::int) n`.execute(
    db,
  );
  await sql`
    insert into log.fact (position, kind, block_id, log_index, sub_index, transaction_index, contract_id, token_id,
                          from_address, to_address)
    select ${orders} + n, 10, ${blockOf}, n % 10, 0, n % 10, 1 + n % 30, n % 1000,
           case when n % 100000 <> 5 and n % 3 = 0 then ${zeroAddress} else ${walletOf("n % 1000")} end,
           case when n % 100000 = 5 then ${zeroAddress} else ${walletOf("(n + 1) % 1000")} end
    from generate_series(1, ${events}::int) n`.execute(db);
  await sql`
    insert into activity.cancel (block_id, log_index, sub_index, transaction_index, contract_id, token_id, maker)
    select ${blockOf}, 10 + n % 10, 0, n % 10, 1 + n % 30, n % 1000, ${walletOf("n % 1000")}
    from generate_series(1, ${events}::int, 3) n`.execute(db);
  await sql`
    insert into sales.sale (block_id, transaction_index, ordinal, sale_id, chain_id, contract_id, token_id, quantity,
                            price_wei, total_wei, currency, seller, buyer, side, marketplace, protocol,
                            protocol_version, exchange, fees, log_index, transaction_hash, block_number, block_hash,
                            timestamp, is_erc1155)
    select ${blockOf}, n % 10, 0, sha256(n::text::bytea), 1, 1 + n % 30, n % 1000, 1, 5, 5, ${zeroAddress},
           ${walletOf("n % 1000")}, ${walletOf("(n + 1) % 1000")}, 'ask', 'opensea', 'seaport', '1.6', ${zeroAddress},
           '[]', 20 + n % 10, sha256(n::text::bytea), n / 10, sha256(n::text::bytea),
           to_timestamp(1700000000 + n / 10), false
    from generate_series(1, ${events}::int, 2) n`.execute(db);
  await sql`update engine.checkpoint set position = ${events + orders}`.execute(db);
  await sql`
    insert into log.fact (position, kind, contract_id, from_address, amount, token_id, order_hash, identity,
                          recorded_at, payload)
    select n, 70, 1 + n % 30, ${walletOf("n % 1000")}, 1, n % 1000, sha256(n::text::bytea), sha256(n::text::bytea),
           to_timestamp(1700000000 + n / 2),
           '{"terms": {"side": "ask", "unitPriceWei": "5"}, "components": {"endTime": "1800000000"}}'
    from generate_series(1, ${orders}::int) n`.execute(db);
}

async function seedOwners(): Promise<void> {
  await sql`
    insert into ownership.token (contract_id, token_id, standard, owner, supply, is_burned)
    select 1 + n % 30, n, 721, ${walletOf("n % 1000")}, 1, false from generate_series(1, 200000) n`.execute(
    db,
  );
  await sql`
    insert into ownership.balance
    select 1 + n % 30, n, ${walletOf("n % 1000")}, 5 from generate_series(1, 200000) n`.execute(db);
  await sql`
    insert into ownership.holder
    select 1 + n % 30, ${walletOf("n")}, 1 + n % 7 from generate_series(1, 150000) n`.execute(db);
}

type Looks = { scans: bigint; rows: number };

async function readLooks(session: Session): Promise<Looks> {
  const { rows } = await sql<Looks>`
    select sum(seq_scan)::bigint as scans, sum(seq_tup_read + idx_tup_fetch)::int as rows
    from pg_stat_xact_user_tables
    where relid in ('activity.cancel'::regclass, 'sales.sale'::regclass, 'log.fact_0'::regclass, 'log.block'::regclass,
                    'log.transaction'::regclass, 'ownership.token'::regclass, 'ownership.balance'::regclass,
                    'ownership.holder'::regclass)`.execute(session);
  return rows[0] ?? { scans: 0n, rows: 0 };
}

/** Rows of the large tables that some work rowsRead at, none of them by reading a table from end to end. */
async function countRowsRead(work: (session: Database) => Promise<unknown>): Promise<number> {
  return await db.transaction().execute(async (session) => {
    const before = await readLooks(session);
    await work(session);
    const after = await readLooks(session);
    expect(after.scans).toBe(before.scans);
    return after.rows - before.rows;
  });
}

const chain: ActivityFilter = {
  chainId: 1,
  types: null,
  contractIds: null,
  tokenId: null,
  wallet: null,
};
const middle = { blockId: firstBlockId(1, 15_000n), logIndex: 0, subIndex: 0 };
const limit = 51;

describe("a page of events", () => {
  it.each<[string, ActivityFilter, number]>([
    ["of the chain", chain, 7 * limit],
    ["of a contract", { ...chain, contractIds: [7] }, 6 * limit],
    ["of a family", { ...chain, contractIds: [7, 8, 9] }, 10 * limit],
    ["of a wallet", { ...chain, wallet }, 20 * limit],
    ["of a type that is common", { ...chain, types: ["mint"] }, 10 * limit],
    ["of a token", { ...chain, contractIds: [7], tokenId: 6n }, 25 * limit],
    ["of a wallet and a contract", { ...chain, wallet, contractIds: [8] }, 40 * limit],
    ["of a type that is rare", { ...chain, types: ["burn"] }, 21_000],
  ])("%s costs the same at any depth", async (_of, filter, most) => {
    for (const after of [null, middle]) {
      const rowsRead = await countRowsRead((session) =>
        readEvents(session, filter, { after, limit }),
      );
      expect(rowsRead).toBeLessThan(most);
      expect(rowsRead).toBeGreaterThan(0);
    }
  });
});

describe("what a transaction did", () => {
  it("is read from its block alone", async () => {
    const { rows } = await sql<{ hash: Hex }>`
      select '0x' || encode(hash, 'hex') as hash from log.transaction
      where block_id = ${middle.blockId} order by transaction_index limit 3`.execute(db);
    for (const { hash } of rows) {
      const found: number[] = [];
      const rowsRead = await countRowsRead(async (session) => {
        const { events: rows } = await readTransactionEvents(session, 1, hash);
        found.push(rows.length);
      });
      expect(rowsRead).toBeLessThan(200);
      expect(found).not.toEqual([0]);
    }
    expect(rows).toHaveLength(3);
  });
});

describe("a page of orders", () => {
  it.each<[string, ActivityFilter]>([
    ["of the chain", chain],
    ["of a contract", { ...chain, contractIds: [7] }],
    ["of a token", { ...chain, contractIds: [7], tokenId: 6n }],
    ["of a wallet", { ...chain, wallet }],
  ])("%s costs the same at any depth", async (_of, filter) => {
    for (const before of [null, 20_000n]) {
      const rowsRead = await countRowsRead((session) =>
        readOrders(session, filter, { before, limit }),
      );
      expect(rowsRead).toBeLessThan(5 * limit);
    }
  });
});

describe("what a wallet holds", () => {
  it("is a walk over its own tokens", async () => {
    const after = { contractId: 9, tokenId: 0n, standard: 721 } as const;
    const filter = { chainId: 1, wallet, contractIds: null };
    for (const position of [null, after]) {
      const rowsRead = await countRowsRead((session) =>
        readWalletTokens(session, filter, { limit, after: position }),
      );
      expect(rowsRead).toBeLessThan(3 * limit);
    }
  });
});

describe("holders", () => {
  it("are read of their contract alone", async () => {
    const slice = { limit, after: { tokens: 4n, owner: wallet } };
    const rowsRead = await countRowsRead((session) => readHolders(session, [7], slice));
    expect(rowsRead).toBeLessThan(5_000 + 3 * limit);
  });
});

describe("what is rare", () => {
  it("is found in the end, by pages of which some are empty", async () => {
    const found: ActivityRow[] = [];
    const pages: number[] = [];
    let after: ActivityKey | null = null;
    do {
      const slice = { limit: 2, after, since: null };
      const page: { rows: ActivityRow[]; next: ActivityKey | null } = await readActivity(
        db,
        { ...chain, types: ["burn"] },
        slice,
      );
      found.push(...page.rows);
      pages.push(page.rows.length);
      after = page.next;
    } while (after !== null && pages.length < 100);

    expect(found).toHaveLength(3);
    expect(pages.filter((rows) => rows === 0).length).toBeGreaterThan(20);
    expect(pages.length).toBeLessThan(40);
  });

  it("keeps its position among results of the other source", async () => {
    const filter: ActivityFilter = { ...chain, types: ["burn", "listing"], contractIds: [6] };
    const times: number[] = [];
    let after: ActivityKey | null = null;
    for (let page = 0; page < 30; page += 1) {
      const slice = { limit: 100, after, since: null };
      const read: { rows: ActivityRow[]; next: ActivityKey | null } = await readActivity(
        db,
        filter,
        slice,
      );
      times.push(...read.rows.map((row) => ("event" in row ? row.event : row.order).at.getTime()));
      after = read.next;
      if (after === null) break;
    }
    expect(after).toBeNull();
    expect(times).toHaveLength(orders / 30 + 1);
    expect(times).toEqual(times.toSorted((one, other) => other - one));
  });
});

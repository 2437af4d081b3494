import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  project,
} from "#test/support/database/given.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const projections = allProjections({ feeRecipient: addressOf(99) });
const book = await openProjectedLog(projections);
afterAll(() => book.drop());

/** Measured: one transaction with so many events of 10,000 ids each, and the gas that it paid. */
const EVENTS = 150;
const IDS = 10_000n;
const GAS = 428_013;

/** Rows of every table of the projections and of the log. */
async function rowsStored(): Promise<number> {
  const { rows: tables } = await sql<{ name: string }>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and (n.nspname = any (${projections.map(({ name }) => schemaOf(name))}::text[]) or n.nspname = 'log')`.execute(
    book.db,
  );
  const counts = tables.map(({ name }) => sql`select count(*) as stored from ${sql.raw(name)}`);
  const { rows } = await sql<{ stored: bigint }>`
    select sum(stored)::bigint as stored from (${sql.join(counts, sql` union all `)}) c`.execute(
    book.db,
  );
  return Number(rows[0]?.stored ?? 0n);
}

/** Transactions measured, after one that takes the first pages of every table. */
const TRANSACTIONS = 5;

/** One transaction, of a contract of its own. */
async function rangesMinted(contract: number): Promise<void> {
  const events = Array.from({ length: EVENTS }, (_, index): ChainEvent => {
    const id = BigInt(index) * IDS;
    const range = { kind: "erc721_consecutive_transfer", tokenId: id, amount: IDS } as const;
    const at = { block: block(33139, contract), logIndex: index, transactionIndex: 0 };
    return { ...range, ...at, contract: addressOf(contract), to: addressOf(1) };
  });
  await appendEvents(book.db, events);
}

it("150 ranges of 10,000 ids in one transaction cost a few rows an event, and less than a byte per gas", async () => {
  const targets = await book.emptyTargets();
  await rangesMinted(1);
  await project(book.db, targets);
  const [before, size] = [await rowsStored(), await sizeOf()];
  for (let contract = 2; contract < 2 + TRANSACTIONS; contract += 1) {
    await rangesMinted(contract);
    await project(book.db, targets);
  }

  expect((await rowsStored()) - before).toBeLessThan(6 * EVENTS * TRANSACTIONS);
  expect((await sizeOf()) - size).toBeLessThan(GAS * TRANSACTIONS);
  const { rows: counted } = await sql`
    select distinct tokens, holders from ownership.collection`.execute(book.db);
  expect(counted).toEqual([{ tokens: BigInt(EVENTS) * IDS, holders: 1n }]);
});

/** Bytes of all tables and indexes, without free space. */
async function sizeOf(): Promise<number> {
  const { rows } = await sql<{ bytes: bigint }>`
    select sum(pg_total_relation_size(c.oid))::bigint as bytes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and (n.nspname = any (${projections.map(({ name }) => schemaOf(name))}::text[]) or n.nspname = 'log')`.execute(
    book.db,
  );
  return Number(rows[0]?.bytes ?? 0n);
}

import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import {
  addressOf,
  appendEvents,
  type Block,
  block,
  type ChainEvent,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import { openProjectorConnection } from "#test/support/database/projector-connection.ts";
import { soldOnLooksrare } from "#test/support/market-data/exchange-sales.ts";
import { transferred } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const contract = addressOf(1);
const [seller, buyer] = [addressOf(2), addressOf(3)];
const blocks = Array.from({ length: 20 }, (_, index) => block(1, 1_000 + index));
const [transfers, sales] = [400, 50];

const book = await openProjectedLog(allProjections({ feeRecipient: addressOf(99) }));
const projector = openProjectorConnection(book.url);
await book.clear();
afterAll(async () => {
  await projector.destroy();
  await book.drop();
});

const tokenOf = (at: Block, index: number) => BigInt(at.number * 10_000 + index);
const minted = (at: Block): ChainEvent[] =>
  Array.from({ length: transfers }, (_, index) =>
    transferred(
      { contract, tokenId: tokenOf(at, index), from: zeroAddress, to: seller },
      { at, log: index },
    ),
  );

const sold = (at: Block): ChainEvent[] =>
  Array.from({ length: sales }, (_, index) => ({
    ...soldOnLooksrare(
      { contract, tokenId: tokenOf(at, index), seller, buyer, priceWei: 5n },
      { at, log: 1_000 + index * 10 },
    ),
    transactionIndex: 1 + index,
  }));

/** Facts of the log that were read by its indexes. */
async function factsRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(projector);
  const { rows } = await sql<{ read: bigint }>`
    select sum(idx_tup_fetch)::bigint as read from pg_stat_user_tables
    where schemaname = 'log' and relname ~ '^fact'`.execute(projector);
  return Number(rows[0]?.read);
}

it("the history of an added exchange does not read a block's facts once for each of its trades", async () => {
  const targets = await book.emptyTargets();
  await appendEvents(book.db, blocks.flatMap(minted));
  await project(projector, targets);
  await sql`vacuum analyze`.execute(book.db);
  await appendEvents(book.db, blocks.flatMap(sold));
  const before = await factsRead();
  await project(projector, targets);

  const facts = blocks.length * (transfers + sales);
  expect((await factsRead()) - before).toBeLessThan(10 * facts);
  const { rows } = await sql<{ sales: bigint }>`select count(*) as sales from sales.sale`.execute(
    book.db,
  );
  expect(Number(rows[0]?.sales)).toBe(blocks.length * sales);
});

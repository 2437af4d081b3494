import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { allProjections } from "../../../projections/all.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  project,
  zeroAddress,
} from "../../support/database/given.ts";
import { openProjectedLog } from "../../support/orders/projected-log.ts";

const projections = allProjections({ feeRecipient: addressOf(99) });
const book = await openProjectedLog(projections);
/** One connection, which keeps its plans, as a projector's does. */
const projector = openDatabase({
  ...{ url: book.url, applicationName: "test", max: 1, prepares: true },
  onIdleError: () => {},
});
afterAll(async () => {
  await projector.destroy();
  await book.drop();
});

const chainId = 33139;
const contracts = 3_000;

/** Each new contract's first token, in one block. */
function minted(number: number, count: number): ChainEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    ...({ kind: "erc721_transfer", block: block(chainId, number), logIndex: index } as const),
    ...{ contract: addressOf(number * 100_000 + index), tokenId: 1n, transactionIndex: 0 },
    ...{ from: zeroAddress, to: addressOf(1) },
  }));
}

/** Rows that scans of whole tables of projections have read. */
async function rowsScanned(db: Database): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ scanned: bigint }>`
    select sum(seq_tup_read)::bigint as scanned from pg_stat_user_tables
    where schemaname = any (${projections.map(({ name }) => name)}::text[])`.execute(db);
  return Number(rows[0]?.scanned);
}

it("reads no table once per contract when thousands of new ones follow small windows", async () => {
  const targets = await book.emptyTargets();
  for (let number = 1; number <= 12; number += 1) {
    await appendEvents(book.db, minted(number, 2));
    await project(projector, targets);
  }
  await appendEvents(book.db, minted(13, contracts));
  const before = await rowsScanned(projector);
  await project(projector, targets);

  expect((await rowsScanned(projector)) - before).toBeLessThan(100 * contracts);
});

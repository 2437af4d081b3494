import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { allProjections } from "#projections/all.ts";
import { openWindow } from "#projections/engine/fact-window.ts";
import type { FactWindow } from "#projections/engine/projection.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Session } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { tokenMetadataFetched } from "#projections/metadata/facts.ts";
import { derivePending } from "#projections/metadata/pending-fetches.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { listAffectedTokens, openSessionTables } from "#projections/traits/derive-tokens.ts";
import { addressOf, appendEvents, block, project } from "#test/support/database/given.ts";
import { givenListing, transferred } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";

const book = await openProjectedLog(allProjections({ feeRecipient: addressOf(99) }));
afterAll(() => book.drop());

const [IDS, EVENTS] = [200, 100];
const contract = addressOf(50);

/** Position after the tokens with rows of their own, half of them fetched, all listed; the rest of the log is ranges of every id. */
let before = 0n;
let upTo = 0n;

async function head(): Promise<bigint> {
  const { rows } = await sql<{ position: bigint }>`select position from log.head`.execute(book.db);
  return rows[0]?.position ?? 0n;
}

beforeAll(async () => {
  const targets = await book.emptyTargets();
  const ids = Array.from({ length: IDS }, (_, id) => BigInt(id));
  await appendEvents(
    book.db,
    ids.map((tokenId, log) =>
      transferred({ contract, to: addressOf(1), tokenId }, { at: block(1, 9), log }),
    ),
  );
  const metadata = { name: "x", description: null, image: null, animation: null };
  await appendObservations(
    book.db,
    ids.slice(0, IDS / 2).map((tokenId) =>
      tokenMetadataFetched({ chainId: 1, contract, tokenId, recordedAt: new Date(0) }, null, {
        ...metadata,
        contentType: null,
        attributes: [],
      }),
    ),
  );
  await appendObservations(
    book.db,
    ids.map((tokenId) => givenListing({ maker: addressOf(1), contract, tokenId }).submitted),
  );
  await project(book.db, targets);
  before = await head();
  await appendEvents(
    book.db,
    Array.from({ length: EVENTS }, (_, log) => ({
      ...transferred({ contract, to: addressOf(2), tokenId: 0n }, { at: block(1, 8), log }),
      kind: "erc721_consecutive_transfer" as const,
      amount: 2n ** 256n - 1n - BigInt(log),
    })),
  );
  await project(book.db, targets);
  upTo = await head();
  await sql`analyze`.execute(book.db);
});

/** Rows of the projections that a session has read; also in transactions that are not counted elsewhere yet. */
async function rowsRead(session: Session): Promise<number> {
  const { rows } = await sql<{ read: bigint }>`
    select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::bigint as read from pg_stat_xact_user_tables
    where schemaname in ('ownership', ${schemaOf("metadata")}, 'listings')`.execute(session);
  return Number(rows[0]?.read);
}

/** Those that a step looks at in the window of the ranges. */
async function rowsReadBy(step: (session: Session, window: FactWindow) => Promise<unknown>) {
  return await book.db.transaction().execute(async (session) => {
    const window = await openWindow(session, { after: before, upTo });
    const earlier = await rowsRead(session);
    await step(session, window);
    return (await rowsRead(session)) - earlier;
  });
}

it("of many ranges of the same ids the tokens that wait for metadata are found once", async () => {
  const read = await rowsReadBy((session, window) =>
    derivePending(session, schemaOf("metadata"), window),
  );
  expect(read).toBeLessThan(10 * IDS);
});

it("of many ranges of the same ids the tokens with traits are found once", async () => {
  const read = await rowsReadBy(async (session, window) => {
    await openSessionTables(session);
    await listAffectedTokens(session, schemaOf("traits"), window);
  });
  expect(read).toBeLessThan(10 * IDS);
});

it("of many ranges of the same ids the listings are found once", async () => {
  const read = await rowsReadBy((session, window) =>
    listingsProjection.apply(session, schemaOf("listings"), window),
  );
  expect(read).toBeLessThan(20 * IDS);
});

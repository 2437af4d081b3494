import type { Address } from "viem";
import { afterAll, expect, it } from "vitest";
import { collectionsProjection } from "#projections/collections/collections.ts";
import type { Database } from "#projections/log/database.ts";
import { bidsProjection } from "#projections/orders/bids.ts";
import { listingsProjection } from "#projections/orders/listings.ts";
import { readBidPage } from "#projections/orders/read-bids.ts";
import { readBidDepth, readListingDepth } from "#projections/orders/read-depth.ts";
import { readListingPage } from "#projections/orders/read-listings.ts";
import type { OrderFilter } from "#projections/orders/read-order-page.ts";
import type { ListedStatus, OrderParts, OrderRow } from "#projections/orders/read-orders.ts";
import type { Moment } from "#projections/past/moment.ts";
import {
  type RelistedToken,
  readChangedListings,
} from "#projections/past/read-changed-listings.ts";
import { readPastBidPage } from "#projections/past/read-past-bids.ts";
import { readPastDepth } from "#projections/past/read-past-depth.ts";
import { readPastListingPage } from "#projections/past/read-past-listings.ts";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { randomFrom } from "#test/simulation/random.ts";
import {
  bookContracts,
  bookHeights,
  bookHistory,
  bookMakers,
  bookTokens,
} from "#test/support/orders/book-history.ts";
import { knownContractIds, openPlayedBook } from "#test/support/orders/played-book.ts";
import type { BookStep } from "#test/support/orders/projected-log.ts";
import { seedsOf } from "#test/support/thoroughness.ts";

const projections = [
  ownershipProjection,
  collectionsProjection,
  listingsProjection,
  bidsProjection,
];
const { live, stopped, play, stopAt, drop } = await openPlayedBook(projections);
afterAll(() => drop());

type Subject = { contract: Address | null; tokenId: bigint | null; maker: Address | null };

const subjects: Subject[] = [
  ...bookContracts.map((contract) => ({ contract, tokenId: null, maker: null })),
  ...bookContracts.flatMap((contract) =>
    bookTokens.map((tokenId) => ({ contract, tokenId, maker: null })),
  ),
  ...bookMakers.map((maker) => ({ contract: null, tokenId: null, maker })),
];

async function filterOf(
  db: Database,
  { contract, tokenId, maker }: Subject,
  status: ListedStatus,
): Promise<OrderFilter> {
  const contractIds = contract === null ? null : await knownContractIds(db, contract);
  return { chainId: 1, contractIds, tokenId, maker, status };
}

const askFilter = { marketplace: null, minPriceWei: null, maxPriceWei: null };
/** Names and prices in USD are those of their own projections. */
const parts: OrderParts = new Set(["fees"]);
const all = { limit: 1_000, offset: 0, after: null };

/** Without what numbers of facts and contracts differ in. */
const shown = ({ rows, total }: { rows: OrderRow[]; total: bigint }) => ({
  total,
  rows: rows.map(({ position: _, contractId: __, ...row }) => ({ ...row, folded: 0 })),
});

/** How many orders of each status were compared. */
const compared = new Map<string, number>();

async function compare(subject: Subject, status: ListedStatus, moment: Moment): Promise<void> {
  const now = moment.clock;
  const [ours, theirs] = [
    await filterOf(live.db, subject, status),
    await filterOf(stopped.db, subject, status),
  ];
  const about = [moment.point.block, subject, status];
  const asks = await readPastListingPage(
    ...([live.db, moment, { ...ours, ...askFilter }, "price_asc", all, parts] as const),
  );
  const listed = await readListingPage(
    ...([stopped.db, { ...theirs, ...askFilter }, "price_asc", all, now, parts] as const),
  );
  expect([about, shown(asks)]).toEqual([about, shown(listed)]);
  const bids = await readPastBidPage(
    ...([live.db, moment, { ...ours, kind: null }, "seller_net_desc", all, parts] as const),
  );
  const bidden = await readBidPage(
    ...([stopped.db, { ...theirs, kind: null }, "seller_net_desc", all, now, parts] as const),
  );
  expect([about, shown(bids)]).toEqual([about, shown(bidden)]);
  for (const [side, { rows }] of Object.entries({ ask: listed, bid: bidden }))
    for (const { status, reason } of rows as (OrderRow & { reason: string | null })[]) {
      const name = `${side} ${reason ?? status}`;
      compared.set(name, (compared.get(name) ?? 0) + 1);
    }
}

/** All that ended is listed of a token and a maker alone. */
const questions = subjects.flatMap((subject) => {
  const statuses = ["active", "inactive", "all"] as const;
  const isWhole = subject.tokenId === null && subject.maker === null;
  return (isWhole ? statuses.slice(0, 2) : statuses).map((status) => ({ subject, status }));
});

/** What stands at each price, floor and best bid first. */
async function compareDepth(contract: Address, moment: Moment): Promise<void> {
  const subject = { contract, tokenId: null, maker: null };
  const [ours, theirs] = [
    await filterOf(live.db, subject, "active"),
    await filterOf(stopped.db, subject, "active"),
  ];
  const contractIds = theirs.contractIds ?? [];
  const found = await readPastDepth(live.db, ours.contractIds ?? [], 5, moment);
  const expected = [
    await readListingDepth(stopped.db, contractIds, 5, moment.clock),
    await readBidDepth(stopped.db, contractIds, 5, moment.clock),
  ];
  expect([moment.point.block, contract, found]).toEqual([moment.point.block, contract, expected]);
}

/** A moment, and the active listings that a database has that was stopped there, by contract or maker. */
type ActiveThen = { moment: Moment; hashes: Map<Subject, string[]> };

async function compareAt(height: number, history: readonly BookStep[]): Promise<ActiveThen | null> {
  const moment = await stopAt(height, history);
  if (moment === null) return null;
  for (const { subject, status } of questions) await compare(subject, status, moment);
  for (const contract of bookContracts) await compareDepth(contract, moment);
  const hashes: ActiveThen["hashes"] = new Map();
  for (const subject of spanSubjects) hashes.set(subject, await activeIn(subject, moment));
  return { moment, hashes };
}

const spanSubjects = subjects.filter(({ tokenId }) => tokenId === null);

async function activeIn(subject: Subject, { clock }: Moment): Promise<string[]> {
  const filter = { ...(await filterOf(stopped.db, subject, "active")), ...askFilter };
  const { rows } = await readListingPage(stopped.db, filter, "price_asc", all, clock, parts);
  return rows.map(({ orderHash }) => orderHash);
}

type Span = { from: Moment; to: Moment };

/** All pages of what changed between two moments. */
async function changesOf(subject: Subject, span: Span, limit: number): Promise<RelistedToken[]> {
  const { contractIds, maker } = await filterOf(live.db, subject, "active");
  const asked = { contractIds, tokenId: null, maker };
  const found: RelistedToken[] = [];
  for (;;) {
    const slice = { limit, after: found.at(-1) ?? null };
    const page = await readChangedListings(live.db, asked, span, slice);
    found.push(...page);
    if (page.length < limit) return found;
  }
}

function applyListings(active: Set<string>, { listed, delisted }: RelistedToken): void {
  for (const { orderHash } of delisted) expect(active.delete(orderHash)).toBe(true);
  for (const { orderHash } of listed) expect(active.has(orderHash)).toBe(false);
  for (const { orderHash } of listed) active.add(orderHash);
  compared.set("relisted", (compared.get("relisted") ?? 0) + listed.length + delisted.length);
}

/** Applied to what was active at the one moment, the changes make what was at the other. */
async function compareSpan(from: ActiveThen, to: ActiveThen, perPage: number): Promise<void> {
  const span = { from: from.moment, to: to.moment };
  for (const subject of spanSubjects) {
    const active = new Set(from.hashes.get(subject));
    for (const change of await changesOf(subject, span, perPage)) applyListings(active, change);
    const about = [span.from.point.block, span.to.point.block, subject];
    expect([about, [...active].toSorted()]).toEqual([about, to.hashes.get(subject)?.toSorted()]);
  }
}

it.each(seedsOf([1, 2, 3, 4, 5, 6, 7, 8], 2))(
  "the book of every block is what a database has that was stopped there, whatever was taken back, seed %i",
  async (seed) => {
    const random = randomFrom(seed);
    const history = bookHistory(random, 160);
    await play(history);
    const moments: ActiveThen[] = [];
    for (let height = 1; height <= bookHeights; height += 1) {
      const found = await compareAt(height, history);
      if (found !== null) moments.push(found);
    }
    for (const [index, from] of moments.entries())
      await compareSpan(from, random.pick(moments.slice(index)), random.pick([1, 2, 100]));
  },
);

it("orders of every kind of state were among them", () => {
  expect([...compared.keys()]).toEqual(
    expect.arrayContaining([
      "ask active",
      "ask filled",
      "ask cancelled",
      "ask not_owner",
      "relisted",
    ]),
  );
});

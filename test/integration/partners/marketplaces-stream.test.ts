import { sql } from "kysely";
import { pino } from "pino";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import type { StreamLimits } from "#jobs/partners/stream-partners.ts";
import { partnerSync } from "#jobs/partners/sync-partners.ts";
import { syncIntervals } from "#jobs/partners/sync-step.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  openSync,
  openTestPartner,
  readShown,
  readTold,
} from "#test/support/orders/partner-sync.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const apes: Address = `0xa0${"00".repeat(18)}01`;
const punks: Address = `0xb0${"00".repeat(18)}02`;
const chainId = 1;
/** A pass is due after this only. */
const farMs = 600_000;

let standIn: StandIn;
let partner: Partner;
let sync: ReturnType<typeof openSync>;
let lines: string[];
let ending: AbortController;
let running: Promise<void> | null;

const open = async (options: { apiKey?: string; key?: string; heartbeatMs?: number } = {}) => {
  const { apiKey, key, heartbeatMs } = options;
  standIn = await openPartnerA(apiKey === undefined ? {} : { apiKey });
  const stream = { url: standIn.streamUrl, ...(heartbeatMs === undefined ? {} : { heartbeatMs }) };
  partner = openTestPartner("opensea", { ...standIn, key: key ?? apiKey ?? "k", stream });
  sync = openSync(database.db, partner);
};

beforeEach(async () => {
  await sql`truncate log.fact, ops.partner_collection, ops.partner_listing, ops.partner_skip`.execute(
    database.db,
  );
  await sql`update log.head set position = 0`.execute(database.db);
  ending = new AbortController();
  running = null;
  lines = [];
});
afterEach(async () => {
  ending.abort();
  await running;
  await partner.close();
  await standIn.close();
});

const show = (contract: Address, count: number, firstTokenId = 1n) =>
  standIn.showMany({ chainId, contract, count, firstTokenId });
const shown = () => readShown(database.db, "opensea");
const shownAt = () =>
  [...standIn.book.all()]
    .filter(({ status }) => status === "active")
    .map(({ orderHash }) => orderHash)
    .toSorted();
const untilEqual = () =>
  until("the same listings as the partner", async () => `${await shown()}` === `${shownAt()}`);
const untilSaid = (text: string) =>
  until(`a line with "${text}"`, async () => lines.some((line) => line.includes(text)));
const skips = async () =>
  (
    await sql<{ reason: string; entries: bigint; path: string }>`
      select reason, entries, last_path as path from ops.partner_skip order by reason`.execute(
      database.db,
    )
  ).rows;

/** Some collections read to their end, and the job that is in no hurry to read them again. */
async function listen(contracts: Address[], limits: Partial<StreamLimits> = {}): Promise<void> {
  await sync.enroll(...contracts);
  await sync.run();
  await sql`update ops.partner_collection set due_at = ${new Date(Date.now() + farMs)}`.execute(
    database.db,
  );
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const jobs = partnerSync({
    ...{ db: database.db, partner, chainIds: [chainId], intervalMs: farMs, logger },
    now: () => new Date(),
    streamLimits: { refreshMs: 50, recordMissedMs: 50, jitterMs: 0, ...limits },
  });
  running = runJobs(jobs, { logger, signal: ending.signal });
  if (standIn.faults().stream === null)
    await until("topics", async () => standIn.topics().length === contracts.length);
  standIn.forgetRequests();
}

const slugOf = (contract: Address) =>
  standIn.collections.find((collection) => collection.contract === contract)?.slug;

describe("the partner's stream", () => {
  it("tells of a listing that no pass has looked for, and the listing is read once", async () => {
    await open();
    await show(apes, 3);
    await listen([apes]);
    await show(apes, 2, 100n);
    await untilEqual();

    expect(await shown()).toHaveLength(5);
    const paths = standIn.requests().map(({ path }) => path);
    expect(paths).toHaveLength(2);
    for (const path of paths) expect(path).toMatch(/^\/api\/v2\/orders\/chain\/ethereum\/protocol/);
  });

  it("tells the same fact as a pass, which tells it no second time", async () => {
    await open();
    await show(apes, 1);
    await listen([apes]);
    await show(apes, 1, 100n);
    await untilEqual();
    sync.pass(syncIntervals.fullMs + farMs);
    await sync.run();

    const [byPass, heard, ...others] = await readTold(database.db, "opensea");
    expect(others).toEqual([]);
    const formOf = ({ kind, payload }: NonNullable<typeof heard>) => [kind, Object.keys(payload)];
    expect(heard && formOf(heard)).toEqual(byPass && formOf(byPass));
  });

  it("tells of what is cancelled or invalid, and of what is valid again", async () => {
    await open();
    await show(apes, 3);
    await listen([apes]);
    const [first, second] = [...standIn.book.all()];
    if (first === undefined || second === undefined) throw new Error("nothing is shown");
    standIn.book.change(first, { status: "cancelled" }, 0);
    standIn.withdraw(chainId, second.orderHash);
    await untilEqual();
    expect(await shown()).toHaveLength(1);

    standIn.restore(chainId, second.orderHash);
    await untilEqual();
    expect(await shown()).toHaveLength(2);
  });

  it("is asked nothing about orders that are no listings of ours", async () => {
    await open();
    await show(apes, 1);
    await listen([apes]);
    await sql`delete from ops.partner_listing`.execute(database.db);
    for (const { orderHash } of standIn.book.all()) standIn.withdraw(chainId, orderHash);
    await show(apes, 1, 100n);
    await until("the new one", async () => (await shown()).length === 2);

    expect(standIn.requests()).toHaveLength(1);
  });

  it("is listened to for the collections that are watched, and no others", async () => {
    await open();
    await show(apes, 1);
    await show(punks, 1, 5_000n);
    await listen([apes]);
    expect(standIn.topics()).toEqual([`collection:${slugOf(apes)}`]);
    await sync.enroll(punks);
    sync.pass(1);
    await sync.run();
    await until("both", async () => standIn.topics().length === 2);

    await sql`delete from ops.partner_collection where slug = ${slugOf(apes)}`.execute(database.db);
    await until("one", async () => standIn.topics().length === 1);
    expect(standIn.topics()).toEqual([`collection:${slugOf(punks)}`]);
  });

  it("may tell what cannot be read: that is counted, said once with its path, and passed over", async () => {
    await open();
    await show(apes, 1);
    await listen([apes]);
    standIn.fail({ stream: "garbage" });
    await show(apes, 10, 100n);
    await untilEqual();
    await until("ten counted", async () => (await skips())[0]?.entries === 10n);

    expect(await skips()).toMatchObject([{ reason: "stream_malformed" }]);
    expect(lines.filter((line) => line.includes("partner listing skipped"))).toHaveLength(1);
    expect(lines.find((line) => line.includes("partner listing skipped"))).toMatch(
      /"path":"[a-z_.]+"/,
    );
  });
});

describe("a stream that fails", () => {
  const makeDue = async () => {
    await sql`update ops.partner_collection set due_at = now(), full_at = now() - interval '1 day'`.execute(
      database.db,
    );
  };

  it("costs nothing but time: passes bring what it does not tell", async () => {
    await open();
    standIn.fail({ stream: "down" });
    await show(apes, 2);
    await listen([apes]);
    await untilSaid("partner stream not connected");
    await show(apes, 3, 100n);
    await makeDue();
    await untilEqual();
    expect(await shown()).toHaveLength(5);
  });

  it("is connected to again, and what it may have told meanwhile is looked for at once", async () => {
    await open();
    await show(apes, 2);
    await listen([apes]);
    standIn.fail({ stream: "losing" });
    await show(apes, 1, 100n);
    const [first] = [...standIn.book.all()];
    if (first !== undefined) standIn.withdraw(chainId, first.orderHash);
    standIn.heal();
    standIn.cutStream();
    await untilEqual();

    await until("its topics", async () => standIn.topics().length === 1);
    await show(apes, 1, 200n);
    await untilEqual();
    expect(
      lines.filter((line) => line.includes("partner stream disconnected, reconnecting")),
    ).toHaveLength(1);
  });

  it("is given up when it does not answer, and connected to again", async () => {
    await open({ heartbeatMs: 100 });
    await show(apes, 1);
    await listen([apes]);
    standIn.fail({ stream: "mute" });
    await untilSaid("partner stream disconnected, reconnecting");
    await until("an end", async () => standIn.topics().length === 0);
    standIn.heal();
    await until("its topics", async () => standIn.topics().length === 1);
  });

  it("that refuses the key is logged once, and tried again later", async () => {
    await open({ apiKey: "right" });
    await show(apes, 1);
    standIn.fail({ stream: "refusing" });
    await listen([apes], { refusedKeyMs: 200 });
    await untilSaid("refused the key");
    const before = standIn.upgrades();
    await until("further tries", async () => standIn.upgrades() >= before + 3);
    expect(
      lines.filter((line) => line.includes("partner stream not connected, retrying")),
    ).toHaveLength(1);
    expect(lines.join()).not.toContain("right");

    standIn.heal();
    await until("its topics", async () => standIn.topics().length === 1);
  });

  it("that tells more than is kept leaves the rest to a pass, which is due at once", async () => {
    await open();
    await show(apes, 1);
    await listen([apes], { maxQueued: 5 });
    await show(apes, 60, 100n);
    await untilEqual();

    expect(await shown()).toHaveLength(61);
    expect(await skips()).toMatchObject([{ reason: "stream_overflow", path: slugOf(apes) }]);
    const passes = standIn.requests().filter(({ path }) => path.includes("/listings/collection/"));
    expect(passes.length).toBeGreaterThan(0);
  });
});

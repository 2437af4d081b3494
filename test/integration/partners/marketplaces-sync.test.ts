import { sql } from "kysely";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { syncIntervals } from "#jobs/partners/sync-step.ts";
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

describe.each([
  ["opensea", openPartnerA],
  ["magiceden", openPartnerB],
] as const)("the sync of %s", (name, openStandIn) => {
  let standIn: StandIn;
  let partner: Partner;
  let sync: ReturnType<typeof openSync>;
  beforeEach(async () => {
    await sql`truncate log.fact, ops.partner_collection, ops.partner_listing, ops.partner_skip`.execute(
      database.db,
    );
    await sql`update log.head set position = 0`.execute(database.db);
    standIn = await openStandIn();
    partner = openTestPartner(name, { url: standIn.url });
    sync = openSync(database.db, partner);
  });
  afterEach(async () => {
    await partner?.close();
    await standIn?.close();
  });

  const show = (contract: Address, count: number, firstTokenId = 1n) =>
    standIn.showMany({ chainId, contract, count, firstTokenId });
  const shownAt = () =>
    [...standIn.book.all()]
      .filter(({ status }) => status === "active")
      .map(({ orderHash }) => orderHash)
      .toSorted();
  const told = () => readTold(database.db, name);
  const shown = () => readShown(database.db, name);

  it("tells of every listing of the covered collections, once", async () => {
    await show(apes, 1_203);
    await show(punks, 30, 5_000n);
    await sync.enroll(apes, punks);

    expect(await sync.run()).toBe("idle");
    expect(sync.skipped).toEqual([]);
    expect(await told()).toHaveLength(1_233);
    expect(await shown()).toEqual(shownAt());

    sync.pass(syncIntervals.fullMs);
    await sync.run();
    expect(await told()).toHaveLength(1_233);
  });

  it("tells what a listing offers, for how much, and who is paid of it", async () => {
    await show(apes, 1);
    await sync.enroll(apes);
    await sync.run();

    const [fact] = await told();
    const [listing] = [...standIn.book.all()];
    const { components } = listing?.order ?? {};
    expect(fact).toMatchObject({
      kind: "seen",
      orderHash: listing?.orderHash,
      payload: {
        marketplace: name,
        protocol: "seaport-1.6",
        currency: null,
        signature: name === "opensea" ? null : listing?.order.signature,
        terms: {
          ...{ side: "ask", contract: apes, standard: "erc721", tokenId: "1", quantity: "1" },
          unitPriceWei: `${listing?.unitPriceWei}`,
          sellerNetWei: `${components?.consideration[0]?.startAmount}`,
          fees: [{ unitWei: `${components?.consideration[1]?.startAmount}`, kind: "service" }],
        },
      },
    });
  });

  it("finds new listings with one page, without reading all again", async () => {
    await show(apes, 1_000);
    await sync.enroll(apes);
    await sync.run();
    await show(apes, 3, 9_000n);
    standIn.forgetRequests();
    sync.pass(syncIntervals.pollMs);
    await sync.run();

    expect(await shown()).toEqual(shownAt());
    expect(standIn.requests().length).toBeLessThanOrEqual(2);
  });

  it("withdraws what a full pass does not see, and tells of it anew when it comes back", async () => {
    await show(apes, 620);
    await sync.enroll(apes);
    await sync.run();
    const gone = shownAt().slice(0, 610);
    for (const orderHash of gone) standIn.withdraw(chainId, orderHash);
    sync.pass(syncIntervals.pollMs);
    await sync.run();
    expect(await shown()).toHaveLength(620);

    sync.pass(syncIntervals.fullMs);
    await sync.run();
    expect(await shown()).toEqual(shownAt());

    const [back] = gone;
    for (let round = 0; round < 2 && back !== undefined; round += 1) {
      standIn.restore(chainId, back);
      sync.pass(syncIntervals.fullMs);
      await sync.run();
      expect(await shown()).toContain(back);
      standIn.withdraw(chainId, back);
      sync.pass(syncIntervals.fullMs);
      await sync.run();
      expect(await shown()).not.toContain(back);
    }
  });

  it("goes on where it was when it ends in the middle, and loses and repeats nothing", async () => {
    await show(apes, 2_100);
    await sync.enroll(apes);
    for (let step = 0; step < 4; step += 1) await sync.step();
    const before = (await told()).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(2_100);

    standIn.forgetRequests();
    const another = openSync(database.db, partner);
    await another.run();

    expect(await told()).toHaveLength(2_100);
    expect(await shown()).toEqual(shownAt());
    const pages = Math.ceil((2_100 - before) / (name === "opensea" ? 200 : 500));
    expect(standIn.requests().length).toBeLessThanOrEqual(pages + 1);
  });

  it("commits a page and the cursor behind it together, when two processes read the same page", async () => {
    await show(apes, 1_500);
    await sync.enroll(apes);
    const other = openSync(database.db, partner);
    for (let round = 0; round < 30; round += 1) await Promise.all([sync.step(), other.step()]);
    await sync.run();

    expect(await told()).toHaveLength(1_500);
    expect(await shown()).toEqual(shownAt());
  });

  it("withdraws nothing while the partner is away, and goes on when it is back", async () => {
    await show(apes, 40);
    await sync.enroll(apes);
    await sync.run();
    for (const down of ["refusing", "reset"] as const) {
      standIn.fail({ down });
      sync.pass(syncIntervals.fullMs);
      expect(await sync.run()).toMatchObject({ rejected: "upstream_error" });
      expect(await shown()).toHaveLength(40);
    }
    standIn.heal();
    await show(apes, 2, 900n);
    // The way to the partner is closed for a while after so many failures.
    await partner.close();
    const fresh = openTestPartner(name, { url: standIn.url });
    const again = openSync(database.db, fresh);
    again.pass(2 * syncIntervals.fullMs + syncIntervals.failedMs);
    expect(await again.run()).toBe("idle");
    expect(await shown()).toEqual(shownAt());
    await fresh.close();
  });

  it("leaves out and counts entries that do not parse, and withdraws nothing after them", async () => {
    await show(apes, 20);
    await sync.enroll(apes);
    await sync.run();
    await show(apes, 20, 500n);
    standIn.fail({ wrong: ["malformed"] });
    sync.pass(syncIntervals.fullMs);
    await sync.run();

    const after = await told();
    expect(after.length).toBeLessThan(40);
    expect(after.every(({ kind }) => kind === "seen")).toBe(true);
    expect(sync.skipped.filter(({ reason }) => reason === "malformed").length).toBeGreaterThan(0);
    const { rows } = await sql<{ entries: bigint }>`
      select entries from ops.partner_skip where marketplace = ${name} and reason = 'malformed'`.execute(
      database.db,
    );
    expect(rows[0]?.entries).toBe(BigInt(sync.skipped.length));

    standIn.heal();
    sync.pass(syncIntervals.fullMs);
    await sync.run();
    expect(await shown()).toEqual(shownAt());
    expect(await told()).toHaveLength(40);
  });

  it("believes no listing whose hash is not that of its order, and no price but that of its legs", async () => {
    await show(apes, 5);
    await sync.enroll(apes);
    standIn.fail({ wrong: ["hash", "price"] });
    await sync.run();
    expect(await told()).toEqual([]);
    expect(sync.skipped.map(({ reason }) => reason)).toEqual(Array(5).fill("wrong_order_hash"));

    standIn.fail({ wrong: ["price"] });
    sync.pass(syncIntervals.fullMs);
    await sync.run();
    const prices = [...standIn.book.all()].map(({ unitPriceWei }) => `${unitPriceWei}`);
    const terms = (await told()).map(({ payload }) => payload.terms as { unitPriceWei: string });
    expect(terms.map(({ unitPriceWei }) => unitPriceWei).toSorted()).toEqual(prices.toSorted());
  });

  it("takes a body that ends in the middle for an outage", async () => {
    await show(apes, 5);
    await sync.enroll(apes);
    standIn.fail({ wrong: ["truncated"] });
    expect(await sync.run()).toMatchObject({ rejected: "upstream_error" });
    expect(await told()).toEqual([]);
  });

  it("reads all again and repeats nothing when what it keeps beside the log is lost", async () => {
    await show(apes, 30);
    await sync.enroll(apes);
    await sync.run();
    const [gone] = shownAt();
    if (gone === undefined) throw new Error("nothing is shown");
    standIn.withdraw(chainId, gone);
    sync.pass(syncIntervals.fullMs);
    await sync.run();
    standIn.restore(chainId, gone);
    await sql`truncate ops.partner_collection, ops.partner_listing`.execute(database.db);
    await sync.enroll(apes);
    await sync.run();

    expect(
      (await told()).map(({ orderHash }) => orderHash).filter((hash) => hash !== gone),
    ).toHaveLength(29);
    expect(await shown()).toEqual(shownAt());
  });

  it("forgets listings that have ended instead of withdrawing them", async () => {
    await show(apes, 12);
    await sync.enroll(apes);
    await sync.run();
    await sql`update ops.partner_listing set end_time = 1`.execute(database.db);
    for (const orderHash of shownAt()) standIn.withdraw(chainId, orderHash);
    sync.pass(syncIntervals.fullMs);
    await sync.run();

    expect((await told()).filter(({ kind }) => kind === "withdrawn")).toEqual([]);
    const { rows } = await sql`select from ops.partner_listing`.execute(database.db);
    expect(rows).toHaveLength(0);
  });
});

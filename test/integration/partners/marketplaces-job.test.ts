import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { sql } from "kysely";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gaugePartners } from "#api/status/gauges.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { CollectionFee } from "#devnet/marketplaces/stand-in-collections.ts";
import { openPartners } from "#jobs/partners/open-partners.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { partnerSync } from "#jobs/partners/sync-partners.ts";
import { syncIntervals } from "#jobs/partners/sync-step.ts";
import { background } from "#jobs/partners/transport.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  addressOf,
  appendEvents,
  block,
  createProjection,
  project,
  zeroAddress,
} from "#test/support/database/given.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  openSync,
  openTestPartner,
  readShown,
  readTold,
} from "#test/support/orders/partner-sync.ts";
import { runsOf } from "#test/support/thoroughness.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const chainId = 1;
const apes: Address = `0xa0${"00".repeat(18)}01`;

let standIn: StandIn;
let partner: Partner;
beforeEach(async () => {
  await dropTarget(database.db, schemaOf("collections"));
  await sql`truncate log.fact, ops.partner_collection, ops.partner_listing, ops.partner_skip`.execute(
    database.db,
  );
  await sql`update log.head set position = 0`.execute(database.db);
  standIn = await openPartnerA();
  partner = openTestPartner("opensea", { url: standIn.url });
});
afterEach(async () => {
  await partner.close();
  await standIn.close();
});

const shown = () => readShown(database.db, "opensea");
const shownBy = (one: StandIn) => [...one.book.all()].map(({ orderHash }) => orderHash).toSorted();

describe("the creator fees of a partner's collections", () => {
  type Fee = { at: string; payload: { marketplace: string; fees: unknown[] } };
  const told = async () =>
    (
      await sql<Fee>`
        select k.address as at, f.payload from log.fact f join log.contract k using (contract_id)
        where f.kind = ${kindLiteral("creator_fee_read")} order by f.position`.execute(database.db)
    ).rows;

  it("are one fact until they change, and another when they change back", async () => {
    const sync = openSync(database.db, partner);
    await sync.enroll(contracts.familyOne, contracts.burnable);
    await sync.run();
    const usual = { recipient: accounts.royaltyRecipient, bps: 500, isRequired: true };
    const of = (fees: CollectionFee[]) => ({
      at: contracts.familyOne,
      payload: { marketplace: "opensea", fees, review: { state: "in_force" } },
    });
    const none = { ...of([]), at: contracts.burnable };
    expect(await told()).toHaveLength(2);
    expect(await told()).toEqual(expect.arrayContaining([of([usual]), none]));

    const [kept] = standIn.collections.splice(
      standIn.collections.findIndex(({ contract }) => contract === contracts.familyOne),
      1,
    );
    if (kept === undefined) throw new Error("the stand-in has no such collection");
    const raised = { ...usual, bps: 750 };
    for (const [fee, count] of [
      [usual, 2],
      [raised, 3],
      [raised, 3],
      [usual, 4],
    ] as const) {
      standIn.collections.push({ ...kept, creatorFees: [fee] });
      sync.pass(syncIntervals.describeMs);
      await sync.run();
      standIn.collections.pop();
      expect(await told()).toHaveLength(count);
    }
    expect((await told()).slice(2)).toEqual([of([raised]), of([usual])]);
  });

  it("tell royalties from other legs, at the partner that tells no fees too", async () => {
    const other = await openPartnerB();
    const magiceden = openTestPartner("magiceden", { url: other.url });
    const creators: unknown[] = [];
    const asking: Partner = {
      ...magiceden,
      fetchListings: (chain, collection, page) => {
        creators.push(collection.creators);
        return magiceden.fetchListings(chain, collection, page);
      },
    };
    for (const one of [partner, asking]) {
      const sync = openSync(database.db, one);
      await sync.enroll(contracts.familyOne);
      await sync.run();
    }
    expect(creators).toEqual([[accounts.royaltyRecipient]]);
    await magiceden.close();
    await other.close();
  });
});

describe("the job", () => {
  it("takes in the listings of the collections that are known, and of those that become known", async () => {
    const target = await createProjection(database.db, collectionsProjection);
    const mint = async (contract: Address, height: number) => {
      await appendEvents(database.db, [
        {
          ...{ kind: "erc721_transfer", block: block(chainId, height), logIndex: 0, contract },
          ...{ tokenId: 1n, from: zeroAddress, to: addressOf(9) },
        },
      ]);
      await project(database.db, [target]);
    };
    await mint(apes, 1);
    await standIn.showMany({ chainId, contract: apes, count: 250 });
    const unknown: Address = `0xb0${"00".repeat(18)}02`;
    await standIn.showMany({ chainId, contract: unknown, count: 5 });
    let shift = 0;
    const ending = new AbortController();
    const logger = pino({ level: "silent" });
    const jobs = partnerSync({
      intervalMs: 60_000,
      ...{ db: database.db, partner, chainIds: [1], logger },
      now: () => new Date(Date.now() + shift),
    });
    const kept = runJobs(jobs, { logger, signal: ending.signal });
    await until("250 listings", async () => (await shown()).length === 250);

    await mint(unknown, 2);
    shift = 60_000;
    await until("5 more", async () => (await shown()).length === 255);
    expect(await shown()).toEqual(shownBy(standIn));
    ending.abort();
    await kept;
  });

  it("reads collections of the registry first in every other turn, whoever else waits", async () => {
    const others = Array.from({ length: 40 }, (_, index) => addressOf(index));
    const sync = openSync(database.db, partner);
    await sync.enroll(...others, apes);
    await sql`update ops.partner_collection set is_registered = true, due_at = due_at + interval '1 second'
      where contract = ${Buffer.from(apes.slice(2), "hex")}`.execute(database.db);
    sync.pass(5_000);
    await standIn.showMany({ chainId, contract: apes, count: 600 });
    standIn.forgetRequests();
    for (let turn = 0; (await shown()).length < 600; turn += 1) await sync.step(turn % 2 === 0);

    expect(standIn.requests().length).toBeLessThan(20);
  });

  it("tells a partner's sighting of a listing of our own too", async () => {
    const sync = openSync(database.db, partner);
    await standIn.showMany({ chainId, contract: apes, count: 1 });
    const [hash] = shownBy(standIn);
    await sql`insert into log.fact (position, kind, order_hash, recorded_at, payload)
      values (1, 70, ${Buffer.from(hash?.slice(2) ?? "", "hex")}, now(), '{}')`.execute(
      database.db,
    );
    await sql`update log.head set position = 1`.execute(database.db);
    await sync.enroll(apes);
    await sync.run();
    expect(await readTold(database.db, "opensea")).toMatchObject([
      { kind: "seen", orderHash: hash },
    ]);
  });

  it("shows in the metrics how far it is, and what it left out", async () => {
    await standIn.showMany({ chainId, contract: apes, count: 8 });
    const sync = openSync(database.db, partner);
    await sync.enroll(apes, contracts.familyOne);
    standIn.fail({ wrong: ["hash"] });
    await sync.run();
    const registry = new Registry();
    gaugePartners(registry, database.db);
    for (let round = 0; round < 2; round += 1) {
      const text = await registry.metrics();
      expect(text).toContain('partner_contracts{marketplace="opensea"} 2');
      expect(text).toContain('partner_contracts_unread{marketplace="opensea"} 0');
      expect(text).toContain(
        'partner_skipped_entries_total{marketplace="opensea",reason="wrong_order_hash"} 8',
      );
    }
  });

  it("is off for partners that are not configured", async () => {
    expect(openPartners({ opensea: null, magiceden: null }, background)).toEqual([]);
    const settings = { url: standIn.url, key: null, requestsPerMinute: 60 };
    const opened = openPartners({ opensea: null, magiceden: settings }, background);
    expect(opened.map(({ name }) => name)).toEqual(["magiceden"]);
    for (const one of opened) await one.close();
  });

  it("killed in the middle again and again, loses and repeats nothing", async () => {
    const all = runsOf(2_400, 800);
    await standIn.showMany({ chainId, contract: apes, count: all });
    await openSync(database.db, partner).enroll(apes);
    standIn.fail({ slowMs: 250 });
    const facts = async () => (await readTold(database.db, "opensea")).length;
    let kills = 0;
    for (let before = 0; before < all; before = await facts()) {
      const child = startSyncing();
      const exited = once(child, "exit");
      const enough = Math.min(before + 200, all);
      await until(`${enough} facts`, async () => (await facts()) >= enough).finally(() =>
        child.kill("SIGKILL"),
      );
      await exited;
      kills += 1;
    }
    standIn.heal();
    const last = openSync(database.db, partner);
    last.pass(60_000);
    await last.run();

    expect(kills).toBeGreaterThan(2);
    expect(await facts()).toBe(all);
    expect(await shown()).toEqual(shownBy(standIn));
    // A page that was read and not committed is read again, and the partner may be asked what is new.
    expect(standIn.requests().length).toBeLessThanOrEqual(all / 200 + 2 + kills + 1);
  });
});

/** A process of its own that takes listings in until it is killed. */
function startSyncing(): ChildProcess {
  const root = `${import.meta.dirname}/../../..`;
  const code = `
    import { openDatabase } from "${root}/projections/log/database.ts";
    import { openSync, openTestPartner } from "${root}/test/support/orders/partner-sync.ts";
    const db = openDatabase({ url: "${database.url}", applicationName: "child", onIdleError: () => {} });
    const sync = openSync(db, openTestPartner("opensea", { url: "${standIn.url}" }));
    while ((await sync.step()) === "done");
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd: root,
    stdio: "ignore",
  });
}

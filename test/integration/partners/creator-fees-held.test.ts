import { sql } from "kysely";
import { Registry } from "prom-client";
import type { Address } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { gaugePartners } from "#api/status/gauges.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import type { StandIn } from "#devnet/marketplaces/stand-in.ts";
import type { CollectionFee } from "#devnet/marketplaces/stand-in-collections.ts";
import type { Partner } from "#jobs/partners/partner.ts";
import { syncIntervals } from "#jobs/partners/sync-step.ts";
import { collectionsProjection } from "#projections/collections/collections.ts";
import { readPartnerRoyalties } from "#projections/collections/read-royalties.ts";
import type { CreatorFee } from "#projections/domain/royalty.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import { appendObservations } from "#projections/log/append.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { creatorFeeRead } from "#projections/partners/sync-fees.ts";
import { createProjection, project } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openSync, openTestPartner } from "#test/support/orders/partner-sync.ts";
import { runOp } from "#test/support/processes/op.ts";

const contract = contracts.familyOne;
const creator = accounts.royaltyRecipient;
const thief: Address = "0x00000000000000000000000000000000000bad01";
const fee = (bps: number, recipient: Address = creator): CreatorFee => ({
  ...{ recipient, bps, isRequired: true },
});

let database: TestDatabase;
let standIn: StandIn;
let partner: Partner;
let isMember: boolean;
let sync: ReturnType<typeof openSync>;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());
beforeEach(async () => {
  await dropTarget(database.db, schemaOf("collections"));
  await sql`truncate log.fact, ops.partner_collection, ops.partner_listing`.execute(database.db);
  await sql`update log.head set position = 0`.execute(database.db);
  standIn = await openPartnerA();
  const real = openTestPartner("opensea", { url: standIn.url, timeouts: { timeoutMs: 60_000 } });
  isMember = true;
  const fetchCollection: Partner["fetchCollection"] = async (...named) => {
    const found = await real.fetchCollection?.(...named);
    if (found === undefined) throw new Error("the partner has collections");
    return isMember || !("contracts" in found) ? found : { ...found, contracts: [thief] };
  };
  partner = { ...real, fetchCollection };
  sync = openSync(database.db, partner);
  await sync.enroll(contract);
});
afterEach(async () => {
  await partner.close();
  await standIn.close();
});

/** The partner says other fees, and is asked when it is due. */
async function says(...creatorFees: CollectionFee[]): Promise<void> {
  const known = standIn.collections.find((one) => one.chainId === 1 && one.contract === contract);
  if (known === undefined) throw new Error("the stand-in has no such collection");
  const others = standIn.collections.filter((one) => one !== known);
  standIn.collections.splice(0, standIn.collections.length, ...others, { ...known, creatorFees });
  sync.pass(syncIntervals.describeMs);
  expect(await sync.run()).toBe("idle");
}

/** The partner's creator fee that orders are asked for, in tables derived anew from the log. */
async function due() {
  await dropTarget(database.db, schemaOf("collections"));
  await project(database.db, [await createProjection(database.db, collectionsProjection)]);
  return (await readPartnerRoyalties(database.db, 1, [contract])).get(contract) ?? null;
}

async function operate(...words: string[]) {
  const settings = { DATABASE_URL: database.url, DATA_DIR: "/nonexistent" };
  const { code, stdout } = await runOp(settings, "royalties", ...words, "--json");
  return { code, output: JSON.parse(stdout) };
}

const named = `1:${contract}`;

describe("a partner's word about royalties", () => {
  it("of 98 % counts for nothing until an operator accepts it", async () => {
    await says(fee(9_800, thief));
    expect(await due()).toBeNull();
    expect((await operate("list")).output.held).toMatchObject([
      { contract, pendingReason: "above_cap", fees: [fee(9_800, thief)], inForce: null },
    ]);

    expect(await operate("accept", named)).toMatchObject({ code: 0 });
    expect(await due()).toEqual({ recipient: thief, bps: 9_800 });
    expect((await operate("list")).output.held).toEqual([]);
    expect(await operate("accept", named)).toMatchObject({ code: 1 });
  });

  it("does not replace what counts by a large change or another recipient, and refused it is not asked about again", async () => {
    await says(fee(500));
    const kept = { recipient: creator, bps: 500 };
    for (const [word, pendingReason] of [
      [[fee(900)], "large_change"],
      [[fee(500, thief)], "other_recipient"],
      [[], "large_change"],
    ] as const) {
      await says(...word);
      expect(await due()).toEqual(kept);
      expect((await operate("list")).output.held).toMatchObject([
        { pendingReason, inForce: [fee(500)] },
      ]);
    }
    expect(await operate("refuse", named)).toMatchObject({ code: 0 });
    await says();
    expect((await operate("list")).output.held).toEqual([]);
    expect(await due()).toEqual(kept);

    await says(fee(600));
    expect(await due()).toEqual({ recipient: creator, bps: 600 });
  });

  it("counts for nothing where the contract is not its collection's", async () => {
    isMember = false;
    await says(fee(500));
    expect(await due()).toBeNull();
    expect((await operate("list")).output.held).toMatchObject([
      { pendingReason: "not_its_contract" },
    ]);
  });

  it("waits with an alarm", async () => {
    const metrics = new Registry();
    gaugePartners(metrics, database.db);
    await says(fee(9_800));
    expect(await metrics.metrics()).toContain('partner_creator_fees_held{marketplace="opensea"} 1');
  });

  it("of an earlier version counts up to the default cap", async () => {
    const reading = { chainId: 1, contract, marketplace: "opensea", readAt: new Date() } as const;
    await appendObservations(database.db, [
      creatorFeeRead({ ...reading, fees: [fee(700)], change: 0 }),
      creatorFeeRead({ ...reading, fees: [fee(9_800, thief)], change: 1 }),
    ]);
    expect(await due()).toEqual({ recipient: creator, bps: 700 });
  });
});

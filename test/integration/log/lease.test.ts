import { sql } from "kysely";
import { pino } from "pino";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { acquireLeadership, type Leadership, leaseMs } from "#ops/processes/roles/leader.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";

let database: TestDatabase;
const endings: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createDatabase();
  return () => database.drop();
});
beforeEach(async () => {
  await sql`truncate ops.lease`.execute(database.db);
});
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

/** Waits for the lease of a role, as a process does when it starts. */
function apply(role = "work"): Promise<Leadership> {
  const stopping = new AbortController();
  const leadership = acquireLeadership({
    url: database.url,
    role,
    table: "ops.lease",
    logger: pino({ level: "silent" }),
    signal: stopping.signal,
  });
  endings.push(async () => {
    stopping.abort();
    await (await leadership)?.release();
  });
  return leadership.then((held) => held ?? Promise.reject(new Error("stopped")));
}

async function inTime<Value>(what: Promise<Value>, ms: number): Promise<Value | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(resolve, ms, "late");
  });
  return await Promise.race([what, late]).finally(() => clearTimeout(timer));
}

/** Ends the connection that a lease is renewed on, as a broken network does. */
async function cut(): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'leader work'`.execute(database.db);
}

async function expiresInMs(): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as ms from ops.lease
  `.execute(database.db);
  return rows[0]?.ms ?? Number.NaN;
}

const fence = (one: Leadership) =>
  database.db.transaction().execute((session) => one.fence(session));

describe("a role that several processes want", () => {
  it("is held by one process while it renews, and taken over at once when it is released", async () => {
    const first = await apply();
    const second = apply();
    expect(await inTime(second, leaseMs + 500)).toBe("late");
    expect(await first.isHeld()).toBe(true);
    await fence(first);

    const releasedAt = performance.now();
    await first.release();
    const next = await second;

    expect(performance.now() - releasedAt).toBeLessThan(1_000);
    expect([await first.isHeld(), await next.isHeld()]).toEqual([false, true]);
    await expect(fence(first)).rejects.toThrow("transaction rolled back");
    await fence(next);
  });

  it("does not delay processes of another role", async () => {
    await apply("work");
    expect(await inTime(apply("other work"), 1_000)).not.toBe("late");
  });

  it("is taken over within 3 s when its holder is disconnected, which notices at once", async () => {
    const first = await apply();
    const cutAt = performance.now();
    await cut();

    await expect(first.lost).rejects.toThrow("its connection ended");
    expect(first.signal.aborted).toBe(true);
    expect(performance.now() - cutAt).toBeLessThan(500);
    const next = await apply();
    expect(performance.now() - cutAt).toBeLessThan(3_000);
    expect(await next.isHeld()).toBe(true);
  });

  it("is no longer used by a holder that cannot renew, before it expires", async () => {
    const first = await apply();
    const lock = await lockLease();
    const expiresAt = performance.now() + (await expiresInMs());
    let heldAt = 0;
    for (let askedAt = performance.now(); await first.isHeld(); askedAt = performance.now()) {
      heldAt = askedAt;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(heldAt).toBeGreaterThan(0);
    expect(heldAt).toBeLessThan(expiresAt);
    await expect(first.lost).rejects.toThrow("could not be renewed in time");
    await lock.release();
  });

  it("stays with a slow holder while no other process took it", async () => {
    const first = await apply();
    const deadline = performance.now() + leaseMs + 500;
    while (performance.now() < deadline) {
      // Nothing else runs in this process meanwhile: the lease cannot be renewed before its end.
    }
    expect(await first.isHeld()).toBe(true);
    expect(await expiresInMs()).toBeGreaterThan(0);
  });

  it("is lost when a renewal finds another holder", async () => {
    const first = await apply();
    await sql`update ops.lease set owner = 'another', epoch = epoch + 1`.execute(database.db);
    await expect(first.lost).rejects.toThrow("another process holds it");
  });
});

/** Blocks renewals of the row. */
async function lockLease(): Promise<{ release(): Promise<void> }> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let report = () => {};
  const held = new Promise<void>((resolve) => {
    report = resolve;
  });
  const transaction = database.db.transaction().execute(async (session) => {
    await sql`select from ops.lease for update`.execute(session);
    report();
    await released;
  });
  await held;
  return {
    async release() {
      release();
      await transaction;
    },
  };
}

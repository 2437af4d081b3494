import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deleteExpiredAccounts } from "#api/accounts/open-accounts.ts";
import { openThrottle } from "#api/accounts/throttle.ts";
import { countRequests } from "#api/keys/count-requests.ts";
import { openLocalCounts } from "#api/keys/limiter.ts";
import { deleteExpiredAccess } from "#api/keys/open-access.ts";
import { createInstantKey } from "#api/keys/stored-keys.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { openDesk, signUp } from "./accounts-fixture.ts";

const limits = { keyless: 3, instant: 60, permanent: 120 };
const start = new Date("2026-03-10T12:00:00.000Z");
const secondMs = 1_000;
const dayMs = 86_400 * secondMs;
const earlier = (ms: number) => new Date(start.getTime() - ms);

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

let callers = 0;

async function takeThree(caller: string, at: Date): Promise<number> {
  const ask = { caller, wanted: 3, perMinute: limits.keyless };
  const [counted] = await countRequests(database.db, [ask], limits, at);
  return counted?.granted ?? 0;
}

const back = [11 * secondMs, 59 * secondMs, 3_600 * secondMs, 400 * dayMs];

it.each(back)("a clock set back by %s ms leaves every caller its limit", async (ms) => {
  callers += 1;
  const caller = `caller ${callers}`;
  expect(await takeThree(caller, start)).toBe(3);
  expect(await takeThree(caller, earlier(ms))).toBe(3);
  expect(await takeThree(caller, earlier(ms))).toBe(0);
  const local = openLocalCounts();
  const takeHere = (at: Date) => local.take("one", 3, 3, at.getTime()).isGranted;
  expect([start, earlier(ms), earlier(ms)].map(takeHere)).toEqual([true, true, false]);
});

it.each(back)("a clock set back by %s ms leaves every account its attempts", async (ms) => {
  callers += 1;
  const attempt = ["mail account", `account ${callers}`] as const;
  const refusedAt = async (at: Date) => {
    const throttle = openThrottle(database.db, () => at);
    const refusals: boolean[] = [];
    for (let time = 0; time < 4; time += 1)
      refusals.push((await throttle.countAttempts(attempt)) !== null);
    return refusals;
  };
  const three = [false, false, false, true];
  expect([await refusedAt(start), await refusedAt(earlier(ms))]).toEqual([three, three]);
});

it("a statement that began before the window it counts in begins no new one", async () => {
  expect(await takeThree("late", start)).toBe(3);
  expect(await takeThree("late", earlier(4 * secondMs))).toBe(0);
});

it("a database whose clock is ahead of this process's deletes nothing that is not over by both", async () => {
  const desk = await openDesk({ databaseUrl: database.url });
  await signUp(desk);
  const { db } = database;
  await createInstantKey(db, "192.0.2.9", null);
  // As if the database's clock had been set forward by forty days since.
  await sql`update access.session set created_at = now() - interval '40 days', seen_at = now() - interval '40 days'`.execute(
    db,
  );
  await sql`update access.key set expires_at = now() - interval '33 days'`.execute(db);
  const counts = async () => {
    const { rows } = await sql`
      select (select count(*) from access.session) as sessions, (select count(*) from access.key) as keys,
             (select count(created_from) from access.key) as addresses`.execute(db);
    return rows[0];
  };
  const sweep = async (now: Date) => {
    await deleteExpiredAccounts(db, now);
    await deleteExpiredAccess(db, now);
    return counts();
  };

  const all = { sessions: 1n, keys: 1n, addresses: 1n };
  expect(await sweep(new Date(Date.now() - 40 * dayMs))).toEqual(all);
  expect(await sweep(new Date(Date.now() + 40 * dayMs))).toEqual({
    sessions: 0n,
    keys: 0n,
    addresses: 0n,
  });
  await desk.close();
});

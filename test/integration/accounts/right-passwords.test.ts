import { sql } from "kysely";
import { expect, it } from "vitest";
import { exportAccount, maxExportedRows } from "#api/accounts/own-data.ts";
import { signIn as beginSignIn } from "#api/accounts/sign-in.ts";
import { openBrowser, openDesk, password, signIn, signUp } from "./accounts-fixture.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const hourMs = 3_600_000;
const desks = useTwoDesks(start);

const idOf = async (email: string): Promise<number> => {
  const { rows } = await sql<{ id: number }>`
    select id from access.account where email = ${email}`.execute(desks.database.db);
  return rows[0]?.id ?? 0;
};

/** The account has given its right password so often in this hour. */
async function give(email: string, times: number): Promise<void> {
  const id = await idOf(email);
  const { throttle } = desks.one.accounts;
  for (let time = 0; time < times; time += 1)
    await throttle.countAttempts(["right passwords account", `${id}`]);
}

it("right passwords of an account are a hundred an hour, at sign-in and with a session", async () => {
  const owner = await signUp(desks.one);
  expect((await signIn(openBrowser(desks.one), owner.email)).status).toBe(303);
  await give(owner.email, 99);

  const refused = await signIn(openBrowser(desks.other), owner.email);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3600"]);
  const change = { current: password, password: "another password" };
  expect((await owner.post("/developers/account/password", change)).status).toBe(429);
  // Then each is a try, of which there are ten, so that hashes are bounded too.
  for (let time = 0; time < 9; time += 1) await signIn(openBrowser(desks.one), owner.email);
  desks.clock = desks.later(hourMs);
  expect((await signIn(openBrowser(desks.one), owner.email)).status).toBe(303);
});

it("an account has fifty sessions; a further one ends the one that was not seen for longest", async () => {
  const owner = await signUp(desks.one);
  const { db } = desks.database;
  const id = await idOf(owner.email);
  const visitor = { address: "192.0.2.1", agent: "a browser" };
  const email = owner.email;
  for (let time = 1; time <= 55; time += 1) {
    desks.clock = desks.later(time * 1_000);
    const input = { email, password, replacedSessionId: null };
    expect(await beginSignIn(desks.one.accounts, input, visitor)).toHaveProperty("token");
  }
  const { rows } = await sql<{ count: bigint; first: Date }>`
    select count(*), min(created_at) as first from access.session where account_id = ${id}`.execute(
    db,
  );
  expect(rows).toEqual([{ count: 50n, first: desks.later(6_000) }]);
});

it("an export has the newest ten thousand rows of each table, and says which have more", async () => {
  const owner = await signUp(desks.one);
  const { db } = desks.database;
  const id = await idOf(owner.email);
  await sql`
    insert into access.place (account_id, network, first_at, last_at)
    select ${id}::int, '172.' || n / 256 || '.' || n % 256 || '.0/24', ${start}::timestamptz, ${start}::timestamptz + make_interval(secs => n)
    from generate_series(1, ${maxExportedRows + 5}::int) n`.execute(db);
  const held = await exportAccount(db, { accountId: id, email: owner.email });
  const places = held.place as { last_at: Date }[];
  expect([places.length, held.cut]).toEqual([maxExportedRows, ["place"]]);
  expect(places[0]?.last_at).toEqual(desks.later((maxExportedRows + 5) * 1_000));
});

it("the pages are limited by address, as those of the market", async () => {
  const desk = await openDesk({
    databaseUrl: desks.database.url,
    clock: () => desks.clock,
    keyless: 1,
  });
  const stranger = openBrowser(desk, "203.0.113.50");
  for (let time = 0; time < 20; time += 1)
    expect((await stranger.get("/developers/sign-in")).status).toBe(200);
  const refused = await stranger.get("/developers/sign-in");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(refused.text).toContain("Too many pages");
  expect((await openBrowser(desk, "203.0.113.51").get("/developers/sign-in")).status).toBe(200);
  await desk.close();
});

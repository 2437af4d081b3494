import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { deleteExpiredAccounts } from "#api/accounts/open-accounts.ts";
import { openPasswords } from "#api/accounts/passwords.ts";
import { createDatabase } from "#test/support/database/postgres.ts";
import { newEmail, openBrowser, openDesk, password, signIn, signUp } from "./accounts-fixture.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const [minuteMs, hourMs] = [60_000, 3_600_000];
const desks = useTwoDesks(start);

const wrong = "some wrong password";

describe("signing in", () => {
  it.each(["an account", "no account"])(
    "is refused after ten wrong passwords for an address with %s, across processes, for 15 minutes",
    async (which) => {
      const email = which === "an account" ? (await signUp(desks.one)).email : newEmail();
      const statuses: number[] = [];
      for (let time = 0; time < 10; time += 1) {
        const browser = openBrowser(time % 2 ? desks.one : desks.other);
        statuses.push((await signIn(browser, email, wrong)).status);
      }
      const eleventh = await signIn(openBrowser(desks.one), email);
      desks.clock = desks.later(15 * minuteMs - 1);
      const early = await signIn(openBrowser(desks.one), email);
      desks.clock = desks.later(15 * minuteMs);
      const again = await signIn(openBrowser(desks.one), email);

      expect(new Set(statuses)).toEqual(new Set([401]));
      expect([eleventh.status, eleventh.headers.get("retry-after")]).toEqual([429, "900"]);
      expect(eleventh.text).toContain("Too many attempts; try again in 15 minutes");
      expect([early.status, early.headers.get("retry-after")]).toEqual([429, "1"]);
      expect(again.status).toBe(which === "an account" ? 303 : 401);
    },
  );

  it("lets exactly ten of many through that come at once", async () => {
    const { email } = await signUp(desks.one);
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, time) =>
        signIn(openBrowser(time % 2 ? desks.one : desks.other), email, wrong),
      ),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  it("is refused after thirty tries of one network address, whoever's account is tried", async () => {
    const { email } = await signUp(desks.one);
    const address = "203.0.113.7";
    for (let time = 0; time < 30; time += 1) {
      const { status } = await signIn(openBrowser(desks.one, address), newEmail(), wrong);
      expect(status).toBe(401);
    }
    expect((await signIn(openBrowser(desks.other, address), email)).status).toBe(429);
    expect((await signIn(openBrowser(desks.one), email)).status).toBe(303);
  });

  it("counts no right password, and a right one makes none of the wrong ones undone", async () => {
    const { email } = await signUp(desks.one);
    for (let time = 0; time < 15; time += 1) {
      expect((await signIn(openBrowser(desks.one), email)).status).toBe(303);
    }
    for (let time = 0; time < 10; time += 1) await signIn(openBrowser(desks.one), email, wrong);
    expect((await signIn(openBrowser(desks.one), email)).status).toBe(429);
  });

  it("is open by mail to an owner whom somebody else has locked out", async () => {
    const { email } = await signUp(desks.one);
    for (let time = 0; time < 10; time += 1) await signIn(openBrowser(desks.one), email, wrong);
    const browser = openBrowser(desks.one);
    await browser.post("/developers/forgot", { email });
    const link = new URL(desks.one.mails.at(-1)?.link ?? "").searchParams.get("link") ?? "";

    expect((await browser.post("/developers/confirm", { link, password })).status).toBe(303);
    expect((await browser.get("/developers")).status).toBe(200);
  });

  it("is still refused after a restart", async () => {
    const email = newEmail();
    for (let time = 0; time < 10; time += 1) await signIn(openBrowser(desks.one), email, wrong);
    const restarted = await openDesk({ databaseUrl: desks.database.url, clock: () => desks.clock });
    const { status } = await signIn(openBrowser(restarted), email);
    await restarted.close();

    expect(status).toBe(429);
  });
});

describe("asking for mail", () => {
  it.each(["an account", "no account"])(
    "is refused after three an hour to an address with %s",
    async (which) => {
      const email = which === "an account" ? (await signUp(desks.one)).email : newEmail();
      desks.clock = desks.later(hourMs);
      const before = desks.one.mails.length;
      const ask = async (path: string) => openBrowser(desks.one).post(path, { email });
      const statuses = [];
      for (const path of ["sign-up", "forgot", "sign-up", "forgot"]) {
        statuses.push((await ask(`/developers/${path}`)).status);
      }
      desks.clock = desks.later(2 * hourMs - 1);
      const early = await ask("/developers/forgot");
      desks.clock = desks.later(2 * hourMs);

      expect(statuses).toEqual([200, 200, 200, 429]);
      expect([early.status, early.headers.get("retry-after")]).toEqual([429, "1"]);
      expect((await ask("/developers/forgot")).status).toBe(200);
      expect(desks.one.mails.length - before).toBe(4);
    },
  );

  it("is refused after ten an hour from one network address", async () => {
    const browser = openBrowser(desks.one);
    for (let time = 0; time < 10; time += 1) {
      expect((await browser.post("/developers/sign-up", { email: newEmail() })).status).toBe(200);
    }
    expect((await browser.post("/developers/sign-up", { email: newEmail() })).status).toBe(429);
  });
});

it("the current password may be guessed ten times in 15 minutes by who has a session", async () => {
  const owner = await signUp(desks.one);
  const change = (current: string) =>
    owner.post("/developers/account/password", { current, password: "another password" });
  for (let time = 0; time < 10; time += 1) expect((await change(wrong)).status).toBe(401);

  expect((await change(password)).status).toBe(429);
  desks.clock = desks.later(15 * minuteMs);
  expect((await change(password)).status).toBe(303);
});

it("passwords are hashed a few at a time, and beyond a queue refused", async () => {
  const passwords = openPasswords();
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => passwords.matches(wrong, null)),
  );
  expect(answers.filter((answer) => answer === false)).toHaveLength(52);
  expect(answers.at(-1)).toMatchObject({ rejected: "busy", retryAfterSeconds: 5 });
  expect(await passwords.matches(wrong, null)).toBe(false);
});

it("what is over is swept, and nothing else", async () => {
  const fresh = await createDatabase();
  const [past, now] = [
    await openDesk({ databaseUrl: fresh.url, clock: () => new Date("2020-01-01T00:00:00Z") }),
    await openDesk({ databaseUrl: fresh.url }),
  ];
  await signUp(past);
  await openBrowser(past).post("/developers/sign-up", { email: newEmail() });
  const owner = await signUp(now);
  await openBrowser(now).post("/developers/sign-up", { email: newEmail() });
  const counts = async () => {
    const { rows } = await sql`
      select (select count(*) from access.session) as sessions,
             (select count(*) from access.link) as links,
             (select count(*) from access.account) as accounts`.execute(fresh.db);
    return rows[0];
  };

  const before = await counts();
  await deleteExpiredAccounts(fresh.db, new Date());
  const after = await counts();
  const page = await owner.get("/developers");
  await Promise.all([past.close(), now.close()]);
  await fresh.drop();

  expect([before, after]).toEqual([
    { sessions: 2n, links: 2n, accounts: 2n },
    { sessions: 1n, links: 1n, accounts: 2n },
  ]);
  expect(page.status).toBe(200);
});

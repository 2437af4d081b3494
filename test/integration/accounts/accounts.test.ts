import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openPasswords } from "#api/accounts/passwords.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  type Desk,
  linkOf,
  newEmail,
  openBrowser,
  openDesk,
  password,
  signIn,
  signUp,
} from "./accounts-fixture.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

let database: TestDatabase;
let desk: Desk;
let clock = start;
let looked = 0;
const later = (ms: number) => new Date(start.getTime() + ms);

beforeAll(async () => {
  database = await createDatabase();
  const passwords = openPasswords();
  desk = await openDesk({
    databaseUrl: database.url,
    clock: () => clock,
    passwords: {
      ...passwords,
      async matches(...given) {
        looked += 1;
        return await passwords.matches(...given);
      },
    },
  });
});
beforeEach(() => {
  clock = start;
});
afterAll(async () => {
  await desk?.close();
  await database?.drop();
});

describe("an account", () => {
  it("is made by who reads the mail of its address, and by nobody before", async () => {
    const email = newEmail();
    const browser = openBrowser(desk);

    const sent = await browser.post("/developers/sign-up", { email: ` ${email.toUpperCase()} ` });
    const early = await signIn(openBrowser(desk), email);
    const link = linkOf(desk, email);
    const form = await browser.get(`/developers/confirm?link=${link}`);
    const looked = await browser.get(`/developers/confirm?link=${link}`);
    const made = await browser.post("/developers/confirm", { link, password });
    const page = await browser.get("/developers?done=welcome");
    const again = await openBrowser(desk).post("/developers/confirm", {
      link,
      password: "another password",
    });

    expect([sent.status, early.status, form.status, looked.status]).toEqual([200, 401, 200, 200]);
    expect([made.status, made.location]).toEqual([303, "/developers?done=welcome"]);
    expect(page.text).toContain("Your account is ready");
    expect([again.status, (await signIn(openBrowser(desk), email)).status]).toEqual([410, 303]);
  });

  it("keeps its password as Argon2id, and of its sessions and links only hashes", async () => {
    const { email, cookie } = await signUp(desk);
    await openBrowser(desk).post("/developers/forgot", { email });
    const { rows } = await sql<{ text: string }>`
      select a::text || s::text || l::text as text
      from access.account a join access.session s on s.account_id = a.id
           join access.link l using (email) where email = ${email}`.execute(database.db);

    expect(rows[0]?.text).toContain("$argon2id$v=19$m=19456,t=2,p=1$");
    for (const secret of [password, cookie?.split("=")[1] ?? "?", linkOf(desk, email)]) {
      expect(rows[0]?.text).not.toContain(secret);
    }
  });

  it.each([
    ["too short", "eleven char"],
    ["of too few characters", "a".repeat(40)],
    ["too long", "ab c-".repeat(41)],
  ])("takes no password that is %s, and says so beside the field", async (_how, bad) => {
    const email = newEmail();
    const browser = openBrowser(desk);
    await browser.post("/developers/sign-up", { email });
    const link = linkOf(desk, email);

    const refused = await browser.post("/developers/confirm", { link, password: bad });

    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/aria-invalid="true".*role="alert">(Choose|Use)/s);
    expect((await browser.post("/developers/confirm", { link, password })).status).toBe(303);
  });

  it("takes a password however its letters are composed", async () => {
    const email = newEmail();
    const browser = openBrowser(desk);
    await browser.post("/developers/sign-up", { email });
    const link = linkOf(desk, email);
    await browser.post("/developers/confirm", { link, password: "une for\u00eat verte" });

    expect((await signIn(openBrowser(desk), email, "une fore\u0302t verte")).status).toBe(303);
  });
});

describe("a link", () => {
  it("works for two hours, and only once, and takes those before it along", async () => {
    const email = newEmail();
    const [one, other] = [openBrowser(desk), openBrowser(desk)];
    await one.post("/developers/sign-up", { email });
    const first = linkOf(desk, email);
    await one.post("/developers/sign-up", { email });
    const second = linkOf(desk, email);

    clock = later(2 * hourMs);
    const late = await one.post("/developers/confirm", { link: second, password });
    clock = later(2 * hourMs - 1);
    const answers = await Promise.all(
      [one, other].map((browser) =>
        browser.post("/developers/confirm", { link: second, password }),
      ),
    );
    const before = await one.post("/developers/confirm", { link: first, password });

    expect(late.status).toBe(410);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410]);
    expect(before.status).toBe(410);
  });

  it("sets a new password, ends the sessions there are, and the owner hears of it", async () => {
    const owner = await signUp(desk);
    const { email } = owner;
    const browser = openBrowser(desk);
    await browser.post("/developers/forgot", { email });
    const link = linkOf(desk, email);
    await browser.post("/developers/confirm", { link, password: "another password" });

    expect((await browser.get("/developers")).status).toBe(200);
    expect((await owner.get("/developers")).location).toBe("/developers/sign-in");
    expect((await signIn(openBrowser(desk), email)).status).toBe(401);
    expect((await signIn(openBrowser(desk), email, "another password")).status).toBe(303);
    expect(desk.mails.at(-1)).toMatchObject({ to: email, subject: "Your password was changed" });
  });

  it("is no way to another's session: what was signed in stays with its own account", async () => {
    const [one, other] = [await signUp(desk), await signUp(desk)];
    await one.post("/developers/forgot", { email: one.email });
    await other.post("/developers/confirm", { link: linkOf(desk, one.email), password });

    expect((await other.get("/developers/account")).text).toContain(one.email);
  });
});

describe("who asks whether there is an account", () => {
  it("reads the same at sign-up and for a forgotten password, and only the mail differs", async () => {
    const { email: known } = await signUp(desk);
    const unknown = newEmail();
    for (const path of ["/developers/sign-up", "/developers/forgot"]) {
      const answers = [];
      for (const email of [known, unknown]) {
        const { status, text } = await openBrowser(desk).post(path, { email });
        answers.push({ status, text: text.replaceAll(email, "someone") });
      }
      expect(answers[0]).toEqual(answers[1]);
      expect(answers[0]?.status).toBe(200);
    }
    const subjectTo = (email: string) => desk.mails.findLast(({ to }) => to === email)?.subject;
    expect([subjectTo(known), subjectTo(unknown)]).toEqual([
      "Choose a new password",
      "Confirm your e-mail address",
    ]);
  });

  it("reads the same when signing in, and the same work is done", async () => {
    const { email } = await signUp(desk);
    const answers = [];
    const before = looked;
    for (const one of [email, newEmail()]) {
      const { status, text } = await signIn(openBrowser(desk), one, "some wrong password");
      answers.push({ status, text: text.replaceAll(one, "someone"), looked: looked - before });
    }
    expect(answers[0]).toEqual({ ...answers[1], looked: 1 });
    expect(answers[1]).toMatchObject({ status: 401, looked: 2 });
  });

  // Processor time, not the clock: a machine with other work must not decide the outcome.
  it("takes the same processor time with and without a stored hash", async () => {
    const passwords = openPasswords();
    const hashed = await passwords.hash(password);
    const processorMs = async (stored: string | null) => {
      const before = process.cpuUsage();
      await passwords.matches("some wrong password", stored);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const [known, unknown]: [number[], number[]] = [[], []];
    for (let run = 0; run < 25; run += 1) {
      known.push(await processorMs(String(hashed)));
      unknown.push(await processorMs(null));
    }
    const ratio = Math.min(...unknown) / Math.min(...known);
    expect(ratio).toBeGreaterThan(0.6);
    expect(ratio).toBeLessThan(1.6);
  });
});

describe("a session", () => {
  it("ends after seven days without a request", async () => {
    const browser = await signUp(desk);
    clock = later(6 * dayMs);
    expect((await browser.get("/developers")).status).toBe(200);
    clock = later(13 * dayMs - 1);
    expect((await browser.get("/developers")).status).toBe(200);
    clock = later(20 * dayMs);
    const ended = await browser.get("/developers");

    expect([ended.status, ended.location, browser.cookie]).toEqual([
      303,
      "/developers/sign-in",
      null,
    ]);
  });

  it("ends after thirty days whatever happens", async () => {
    const browser = await signUp(desk);
    for (let day = 5; day < 30; day += 5) {
      clock = later(day * dayMs);
      expect((await browser.get("/developers")).status).toBe(200);
    }
    clock = later(30 * dayMs);
    expect((await browser.get("/developers")).status).toBe(303);
  });

  it("is listed, and ends on the next request when its owner ends it", async () => {
    const owner = await signUp(desk);
    const [phone, tablet, stranger] = [openBrowser(desk), openBrowser(desk), await signUp(desk)];
    for (const browser of [phone, tablet]) {
      clock = later(clock.getTime() - start.getTime() + 5 * minuteMs);
      await signIn(browser, owner.email);
    }
    const { text } = await owner.get("/developers/account");
    const ids = [...text.matchAll(/sessions\/(\d+)\/end/g)].map(([, id]) => id);

    await stranger.get("/developers/account");
    await stranger.post(`/developers/sessions/${ids[0]}/end`);
    const kept = await tablet.get("/developers");
    await owner.post(`/developers/sessions/${ids[0]}/end`);

    expect(ids).toHaveLength(2);
    expect(text).toContain("Firefox on Linux");
    expect([kept.status, (await tablet.get("/developers")).status]).toEqual([200, 303]);
    expect((await phone.get("/developers")).status).toBe(200);
    await owner.post("/developers/sessions/end-others");
    expect((await phone.get("/developers")).status).toBe(303);
    expect((await owner.get("/developers")).status).toBe(200);
  });

  it("ends when its owner signs out, also for who has a copy of its cookie", async () => {
    const owner = await signUp(desk);
    const copy = owner.at(desk);
    const out = await owner.post("/developers/sign-out");

    expect([out.location, owner.cookie]).toEqual(["/developers/sign-in?done=signed-out", null]);
    expect((await copy.get("/developers")).status).toBe(303);
  });

  it("ends for all others when the password is changed, and goes on under another token here", async () => {
    const owner = await signUp(desk);
    const other = openBrowser(desk);
    await signIn(other, owner.email);
    const before = owner.at(desk);
    const change = (current: string, next: string) =>
      owner.post("/developers/account/password", { current, password: next });

    const wrong = await change("not my password", "another password");
    const weak = await change(password, "short");
    const kept = await other.get("/developers");
    const changed = await change(password, "another password");

    expect([wrong.status, weak.status, kept.status, changed.status]).toEqual([401, 422, 200, 303]);
    expect((await owner.get("/developers/account?done=password")).text).toContain("is changed");
    expect((await other.get("/developers")).status).toBe(303);
    expect((await before.get("/developers")).status).toBe(303);
    expect((await signIn(openBrowser(desk), owner.email)).status).toBe(401);
    expect(desk.mails.at(-1)).toMatchObject({ to: owner.email });
  });
});

it("an account and its sessions are still known after a restart", async () => {
  const owner = await signUp(desk);
  const restarted = await openDesk({ databaseUrl: database.url, clock: () => clock });
  const page = await owner.at(restarted).get("/developers/account");
  const again = await signIn(openBrowser(restarted), owner.email);
  await restarted.close();

  expect(page.text).toContain(owner.email);
  expect(again.status).toBe(303);
});

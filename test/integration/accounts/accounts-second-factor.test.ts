import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { codeAt, stepAt, stepSeconds } from "#api/accounts/second-factor.ts";
import {
  type Browser,
  linkOf,
  openBrowser,
  password,
  secretIn,
  signIn,
  signUp,
} from "./accounts-fixture.ts";
import { totpSecretIn } from "./totp-secret.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const minuteMs = 60_000;
const desks = useTwoDesks(start);

const path = "/developers/account/second-factor";
const codeNow = (secret: Buffer, steps = 0) => codeAt(secret, stepAt(desks.clock) + steps);

/** The next code that was not used yet. */
function nextCode(secret: Buffer): string {
  desks.clock = new Date(desks.clock.getTime() + stepSeconds * 1000);
  return codeNow(secret);
}

type Owner = Browser & { email: string; secret: Buffer; recovery: string[] };

async function withSecondFactor(): Promise<Owner> {
  const browser = await signUp(desks.one);
  const secret = totpSecretIn((await browser.post(path)).text);
  const { text } = await browser.post(`${path}/confirm`, { code: codeNow(secret) });
  const codes = /id="recovery-codes">([^<]+)</.exec(text)?.[1] ?? "";
  return Object.assign(browser, { secret, recovery: codes.split("\n") });
}

/** The answer to the right password. */
async function passwordFirst({ email }: Owner, at = desks.one) {
  const browser = openBrowser(at);
  const page = await signIn(browser, email);
  const pending = /name="pending" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const enter = (code: string) => browser.post("/developers/sign-in/code", { pending, code });
  return { browser, page, enter };
}

describe("setting up a second factor", () => {
  it("takes a code of the secret that is shown, and mails the owner", async () => {
    const browser = await signUp(desks.one);
    const page = await browser.post(path);
    const secret = totpSecretIn(page.text);
    const wrong = await browser.post(`${path}/confirm`, { code: codeNow(secret, 5) });
    const before = await signIn(openBrowser(desks.one), browser.email);
    const on = await browser.post(`${path}/confirm`, { code: codeNow(secret) });
    const account = await browser.get("/developers/account");

    expect(secret).toHaveLength(20);
    expect(page.text).toMatch(/<svg class="qr"[^>]*role="img"/);
    expect([wrong.status, totpSecretIn(wrong.text).equals(secret)]).toEqual([401, true]);
    expect(wrong.text).toMatch(/name="code".*id="code-error" role="alert"/s);
    expect(before.location).toBe("/developers");
    expect(on.text.match(/\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b/g)).toHaveLength(10);
    expect(account.text).toContain("It is on. 10 recovery codes are left.");
    expect(desks.one.mails.at(-1)).toMatchObject({
      to: browser.email,
      subject: "Your second factor was changed",
    });
  });

  it("ends the sessions that began without it, and not the one that switched it on", async () => {
    const browser = await signUp(desks.one);
    const other = openBrowser(desks.one);
    await signIn(other, browser.email);
    const secret = totpSecretIn((await browser.post(path)).text);
    const before = (await other.get("/developers/account")).status;
    await browser.post(`${path}/confirm`, { code: codeNow(secret) });
    const after = await other.get("/developers/account");

    expect(before).toBe(200);
    expect(after.location).toContain("/developers/sign-in");
    expect((await browser.get("/developers/account")).status).toBe(200);
  });

  it("keeps recovery codes as hashes only", async () => {
    const { recovery } = await withSecondFactor();
    const { rows } = await sql<{ text: string }>`
      select string_agg(r::text, '') as text from access.recovery_code r`.execute(
      desks.database.db,
    );
    for (const code of recovery) {
      expect(rows[0]?.text.toLowerCase()).not.toContain(code.replaceAll("-", ""));
    }
  });
});

describe("signing in with a second factor", () => {
  it("needs a code after the password, at any process, and gives no session before", async () => {
    const owner = await withSecondFactor();
    const { browser, page, enter } = await passwordFirst(owner, desks.other);
    const early = await browser.get("/developers");
    const done = await enter(nextCode(owner.secret));

    expect([page.status, browser.cookie === null]).toEqual([200, false]);
    expect(early.location).toBe("/developers/sign-in");
    expect([done.status, done.location]).toEqual([303, "/developers"]);
    expect((await browser.get("/developers")).status).toBe(200);
  });

  it("takes no code twice, not even at once", async () => {
    const owner = await withSecondFactor();
    const code = nextCode(owner.secret);
    const tries = [await passwordFirst(owner), await passwordFirst(owner, desks.other)];
    const answers = await Promise.all(tries.map(({ enter }) => enter(code)));
    const again = await (await passwordFirst(owner)).enter(code);
    const old = await (await passwordFirst(owner)).enter(codeNow(owner.secret, -1));

    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401]);
    expect([again.status, old.status]).toEqual([401, 401]);
  });

  it("takes five wrong codes in 15 minutes, over all processes and sign-ins", async () => {
    const owner = await withSecondFactor();
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      const { enter } = await passwordFirst(owner, time % 2 === 0 ? desks.one : desks.other);
      statuses.push((await enter("000000x")).status);
    }
    const refused = await (await passwordFirst(owner)).enter(nextCode(owner.secret));
    desks.clock = desks.later(16 * minuteMs);
    const after = await (await passwordFirst(owner)).enter(nextCode(owner.secret));

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(refused.status).toBe(429);
    expect(after.status).toBe(303);
  });

  it("takes each recovery code once, however it is typed", async () => {
    const owner = await withSecondFactor();
    const [code = "", next = ""] = owner.recovery;
    const first = await (await passwordFirst(owner)).enter(code);
    const again = await (await passwordFirst(owner)).enter(code);
    const typed = await (await passwordFirst(owner)).enter(next.replaceAll("-", " ").toUpperCase());

    expect([first.status, again.status, typed.status]).toEqual([303, 401, 303]);
    expect((await owner.get("/developers/account")).text).toContain("8 recovery codes are left");
  });

  it("expires ten minutes after the password, and ends with its use", async () => {
    const owner = await withSecondFactor();
    const late = await passwordFirst(owner);
    desks.clock = desks.later(10 * minuteMs);
    const expired = await late.enter(codeNow(owner.secret));
    const { enter } = await passwordFirst(owner);
    const done = await enter(nextCode(owner.secret));
    const again = await enter(nextCode(owner.secret));

    expect([expired.status, done.status, again.status]).toEqual([410, 303, 410]);
  });

  it("is needed after a forgotten password too", async () => {
    const owner = await withSecondFactor();
    const browser = openBrowser(desks.one);
    await browser.post("/developers/forgot", { email: owner.email });
    const link = linkOf(desks.one, owner.email);
    const chosen = await browser.post("/developers/confirm", {
      link,
      password: "another password",
    });

    expect(chosen.status).toBe(200);
    expect(chosen.text).toContain('action="/developers/sign-in/code"');
    expect((await browser.get("/developers")).location).toBe("/developers/sign-in");
  });
});

describe("what needs a recent proof", () => {
  const forms: [string, Record<string, string>][] = [
    ["/developers/keys", { name: "price <bot>" }],
    ["/developers/client-key", {}],
    [path, {}],
    ["/developers/account/export", {}],
    ["/developers/account/delete", { name: "nobody@example.test" }],
  ];

  it.each(forms)(
    "%s asks for the password after 15 minutes, and then goes on",
    async (form, fields) => {
      const browser = await signUp(desks.one);
      desks.clock = desks.later(15 * minuteMs - 1);
      const recent = await browser.post(form, fields);
      desks.clock = desks.later(15 * minuteMs);
      const asked = await browser.post(form, fields);
      const wrong = await browser.post(form, {
        ...fields,
        "proof-password": "some wrong password",
      });
      const right = await browser.post(form, { ...fields, "proof-password": password });
      const after = await browser.post(form, fields);

      expect([asked.status, wrong.status]).toEqual([401, 401]);
      expect(asked.text).toMatch(/<h1>Confirm that it is you.*type="password"/s);
      expect(asked.text).toContain(`action="${form}"`);
      if (form === "/developers/keys")
        expect(asked.text).toContain('name="name" value="price &#60;bot&#62;"');
      expect(wrong.text).toContain("This is not your current password");
      expect(right.status).toBe(recent.status);
      expect(after.status).toBe(recent.status);
    },
  );

  it("asks for a code where there is a second factor; the password does not do", async () => {
    const owner = await withSecondFactor();
    desks.clock = desks.later(20 * minuteMs);
    const asked = await owner.post("/developers/keys", { name: "bot" });
    const wrong = await owner.post("/developers/keys", { name: "bot", "proof-password": password });
    const right = await owner.post("/developers/keys", {
      name: "bot",
      "proof-code": nextCode(owner.secret),
    });

    expect(asked.text).toContain('autocomplete="one-time-code"');
    expect([asked.status, wrong.status, right.status]).toEqual([401, 401, 200]);
    expect(secretIn(right, "live")).not.toBe("");
  });

  it("is the same for renewing recovery codes and switching the second factor off", async () => {
    const owner = await withSecondFactor();
    desks.clock = desks.later(20 * minuteMs);
    const asked = [await owner.post(`${path}/recovery-codes`), await owner.post(`${path}/end`)];
    const renewed = await owner.post(`${path}/recovery-codes`, {
      "proof-code": nextCode(owner.secret),
    });
    const old = await (await passwordFirst(owner)).enter(owner.recovery[0] ?? "");
    const off = await owner.post(`${path}/end`);

    expect(asked.map(({ status }) => status)).toEqual([401, 401]);
    expect([renewed.status, old.status, off.location]).toEqual([
      200,
      401,
      "/developers/account?done=second-factor-off",
    ]);
    expect((await signIn(openBrowser(desks.one), owner.email)).location).toBe("/developers");
  });
});

import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { passkeyDomain } from "#api/accounts/passkeys.ts";
import { codeAt, stepAt } from "#api/accounts/second-factor.ts";
import {
  openSoftPasskey,
  passkeyOptionsIn,
  type SoftPasskey,
} from "#test/support/http/soft-passkey.ts";
import {
  type Browser,
  linkOf,
  openBrowser,
  openDesk,
  type Page,
  password,
  signIn,
  signUp,
} from "./accounts-fixture.ts";
import { totpSecretIn } from "./totp-secret.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-04-07T12:00:00.000Z");
const minuteMs = 60_000;
const origin = "http://localhost";
const desks = useTwoDesks(start, origin);
const path = "/developers/account/passkeys";

type Owner = Browser & { email: string; passkey: SoftPasskey; recovery: string[] };

const codesIn = ({ text }: Page) =>
  (/id="recovery-codes">([^<]+)</.exec(text)?.[1] ?? "").split("\n");

async function addPasskey(browser: Browser, name = "laptop") {
  const passkey = openSoftPasskey(origin);
  const asked = await browser.post(path, { "passkey-name": name });
  const answer = passkey.create(passkeyOptionsIn(asked.text));
  const added = await browser.post(`${path}/confirm`, { "passkey-name": name, passkey: answer });
  return { passkey, asked, answer, added };
}

async function withPasskey(): Promise<Owner> {
  const browser = await signUp(desks.one);
  const { passkey, added } = await addPasskey(browser);
  return Object.assign(browser, { passkey, recovery: codesIn(added) });
}

/** The answer to the right password, and what may be given next. */
async function passwordFirst({ email }: { email: string }, at = desks.one) {
  const browser = openBrowser(at);
  const page = await signIn(browser, email);
  const pending = /name="pending" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const give = (fields: Record<string, string>, by = browser) =>
    by.post("/developers/sign-in/code", { pending, ...fields });
  return { browser, page, give, options: passkeyOptionsIn(page.text) };
}

describe("adding a passkey", () => {
  it("gives ten recovery codes with the first, ends other sessions, and mails the owner", async () => {
    const browser = await signUp(desks.one);
    const other = openBrowser(desks.one);
    await signIn(other, browser.email);
    const { added } = await addPasskey(browser, "work <key>");
    const second = await addPasskey(browser, "phone");
    const { text } = await browser.get("/developers/account");

    expect(codesIn(added)).toHaveLength(10);
    expect((await other.get("/developers")).location).toBe("/developers/sign-in");
    expect(second.added.location).toBe("/developers/account?done=passkey");
    expect(text).toContain("It is on. 10 recovery codes are left.");
    expect(text).toMatch(/work &#60;key&#62;.*phone/s);
    expect(desks.one.mails.at(-1)).toMatchObject({
      to: browser.email,
      subject: "Your second factor was changed",
      text: expect.stringContaining("The passkey phone was added"),
    });
  });

  it("excludes those that the account has, and takes none of another account's", async () => {
    const one = await withPasskey();
    const asked = passkeyOptionsIn((await one.post(path, { "passkey-name": "two" })).text);
    const other = await signUp(desks.one);
    const offered = await other.post(path, { "passkey-name": "two" });
    const answer = one.passkey.create(passkeyOptionsIn(offered.text));
    const taken = await other.post(`${path}/confirm`, { "passkey-name": "two", passkey: answer });

    expect(asked.excludeCredentials?.map(({ id }) => id)).toEqual([one.passkey.id]);
    expect(taken.status).toBe(401);
  });

  const refusals: [string, Parameters<SoftPasskey["create"]>[1]][] = [
    ["another origin", { origin: "https://localhost.evil.test" }],
    ["another domain", { domain: "evil.test" }],
    ["the answer to another question", { type: "webauthn.get" }],
    ["a challenge that is not ours", { challenge: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }],
    ["nobody present", { flags: 0x40 }],
    ["a form with certificates, for which lists would be fetched", { format: "apple" }],
    ["an unknown form", { format: "x" }],
  ];
  it.each(refusals)("refuses %s", async (_what, changes) => {
    const browser = await signUp(desks.one);
    const offered = await browser.post(path, { "passkey-name": "one" });
    const passkey = openSoftPasskey(origin).create(passkeyOptionsIn(offered.text), changes);
    const added = await browser.post(`${path}/confirm`, { "passkey-name": "one", passkey });

    expect(added.status).toBe(401);
    expect(added.text).toContain("This passkey was not accepted");
    expect((await signIn(openBrowser(desks.one), browser.email)).location).toBe("/developers");
  });

  it("takes a challenge once, for ten minutes, in the session that it was made for", async () => {
    const browser = await signUp(desks.one);
    const { answer } = await addPasskey(browser);
    const again = await browser.post(`${path}/confirm`, {
      "passkey-name": "again",
      passkey: answer,
    });
    const offered = await browser.post(path, { "passkey-name": "late" });
    const passkey = openSoftPasskey(origin).create(passkeyOptionsIn(offered.text));
    const elsewhere = await signUp(desks.one);
    const stolen = await elsewhere.post(`${path}/confirm`, { "passkey-name": "late", passkey });
    desks.clock = desks.later(10 * minuteMs);
    const late = await browser.post(`${path}/confirm`, { "passkey-name": "late", passkey });

    expect([again.status, stolen.status, late.status]).toEqual([401, 401, 401]);
  });

  it("takes ten, each with a name", async () => {
    const browser = await withPasskey();
    const nameless = await browser.post(path, { "passkey-name": " " });
    for (let made = 1; made < 10; made += 1) await addPasskey(browser, `key ${made}`);
    const { added } = await addPasskey(browser, "eleventh");

    expect(nameless.status).toBe(422);
    expect(added.status).toBe(409);
    expect(added.text).toContain("An account can have at most 10 passkeys");
  });

  it("is not offered where browsers know none: on an IP address, or without https", async () => {
    const plain = await openDesk({ databaseUrl: desks.database.url, clock: () => desks.clock });
    const browser = await signUp(plain);
    const { text } = await browser.get("/developers/account");
    await plain.close();

    expect(text).toContain("There can be none at this address");
    const domains = [
      ["http://127.0.0.1:3000", "https://10.0.0.1", "https://[::1]", "http://api.example.test"],
      ["https://api.example.test", "http://localhost:3000", "http://market.localhost"],
    ].map((urls) => urls.map(passkeyDomain));
    expect(domains).toEqual([
      [null, null, null, null],
      ["api.example.test", "localhost", "market.localhost"],
    ]);
  });
});

describe("signing in with a passkey", () => {
  it("needs it after the password, at any process, and gives no session before", async () => {
    const owner = await withPasskey();
    const { browser, page, give, options } = await passwordFirst(owner, desks.other);
    const early = await browser.get("/developers");
    const done = await give({ passkey: owner.passkey.get(options) }, browser.at(desks.one));

    expect([page.status, early.location]).toEqual([200, "/developers/sign-in"]);
    expect(options.allowCredentials?.map(({ id }) => id)).toEqual([owner.passkey.id]);
    expect([done.status, done.location]).toEqual([303, "/developers"]);
  });

  it("is needed after a forgotten password too", async () => {
    const owner = await withPasskey();
    const browser = openBrowser(desks.one);
    await browser.post("/developers/forgot", { email: owner.email });
    const link = linkOf(desks.one, owner.email);
    const chosen = await browser.post("/developers/confirm", {
      link,
      password: "another one then",
    });

    expect([chosen.status, browser.cookie]).toEqual([200, null]);
    expect(passkeyOptionsIn(chosen.text).allowCredentials).toHaveLength(1);
  });

  const refusals: [string, Parameters<SoftPasskey["get"]>[1]][] = [
    ["another origin", { origin: "http://127.0.0.1" }],
    ["another domain", { domain: "evil.test" }],
    ["the answer to another question", { type: "webauthn.create" }],
    ["nobody present", { flags: 0 }],
    ["a wrong signature", { signature: Buffer.from("3006020101020101", "hex") }],
    ["an unknown credential", { id: "AAAAAAAAAAAAAAAAAAAAAA" }],
    ["a counter that did not rise: a copy", { counter: 1 }],
  ];
  it.each(refusals)("refuses %s", async (_what, changes) => {
    const owner = await withPasskey();
    const { browser, give, options } = await passwordFirst(owner);
    const wrong = await give({ passkey: owner.passkey.get(options, changes) });
    const replayed = await give({ passkey: owner.passkey.get(options) });
    const right = await give({ passkey: owner.passkey.get(passkeyOptionsIn(replayed.text)) });

    expect([wrong.status, replayed.status, right.status]).toEqual([401, 401, 303]);
    expect(wrong.text).toContain("This passkey was not accepted");
    expect((await browser.get("/developers")).status).toBe(200);
  });

  it.each(["", "null", "{}", '{"id":"a"}', "[".repeat(5_000)])(
    "refuses what is no answer: %#",
    async (passkey) => {
      const owner = await withPasskey();
      const { give } = await passwordFirst(owner);
      expect((await give({ passkey })).status).toBe(401);
    },
  );

  it("refuses another account's passkey, and an answer to another sign-in", async () => {
    const [owner, other] = [await withPasskey(), await withPasskey()];
    const first = await passwordFirst(owner);
    const second = await passwordFirst(owner);
    const foreign = await first.give({ passkey: other.passkey.get(first.options) });
    const swapped = await first.give({ passkey: owner.passkey.get(second.options) });

    expect([foreign.status, swapped.status]).toEqual([401, 401]);
  });

  it("takes an answer once, also when it is given to two processes at once", async () => {
    const owner = await withPasskey();
    const { browser, give, options } = await passwordFirst(owner);
    const passkey = owner.passkey.get(options);
    const answers = await Promise.all([
      give({ passkey }),
      give({ passkey }, openBrowser(desks.other, browser.address)),
    ]);

    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(303);
    expect([401, 410]).toContain(statuses[1]);
  });

  it("takes five wrong answers and codes in 15 minutes, over all processes and sign-ins", async () => {
    const owner = await withPasskey();
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      const { give } = await passwordFirst(owner, time % 2 === 0 ? desks.one : desks.other);
      statuses.push((await give(time % 3 === 0 ? { code: "000000" } : { passkey: "{}" })).status);
    }
    const { give, options } = await passwordFirst(owner);
    const refused = await give({ passkey: owner.passkey.get(options) });
    desks.clock = desks.later(16 * minuteMs);
    const after = await passwordFirst(owner);
    const right = await after.give({ passkey: owner.passkey.get(after.options) });

    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect([refused.status, right.status]).toEqual([429, 303]);
  });

  it("asks for so many challenges only, by network address, and still takes recovery codes", async () => {
    const owner = await withPasskey();
    const address = "10.200.0.1";
    let last = await signIn(openBrowser(desks.one, address), owner.email);
    for (let asked = 1; asked < 61; asked += 1)
      last = await signIn(openBrowser(desks.one, address), owner.email);
    const pending = /name="pending" value="([^"]+)"/.exec(last.text)?.[1] ?? "";
    const [code = ""] = owner.recovery;
    const done = await openBrowser(desks.one, address).post("/developers/sign-in/code", {
      ...{ pending, code },
    });

    expect(last.text).not.toContain("data-options");
    expect(last.text).toContain("Too many attempts");
    expect(done.status).toBe(303);
  });
});

describe("an account with passkeys", () => {
  it("can be opened by each recovery code once", async () => {
    const owner = await withPasskey();
    const [code = ""] = owner.recovery;
    const statuses = [];
    for (let time = 0; time < 2; time += 1)
      statuses.push((await (await passwordFirst(owner)).give({ code })).status);

    expect(statuses).toEqual([303, 401]);
    expect((await owner.get("/developers/account")).text).toContain("9 recovery codes are left");
  });

  it("takes either, where it has an authenticator program too, and keeps one without the other", async () => {
    const owner = await withPasskey();
    const secret = totpSecretIn((await owner.post("/developers/account/second-factor")).text);
    const codeNow = () => codeAt(secret, stepAt(desks.clock));
    await owner.post("/developers/account/second-factor/confirm", { code: codeNow() });
    desks.clock = desks.later(minuteMs);
    const byCode = await (await passwordFirst(owner)).give({ code: codeNow() });
    await owner.post("/developers/account/second-factor/end");
    const { give, options } = await passwordFirst(owner);
    const byPasskey = await give({ passkey: owner.passkey.get(options) });

    expect([byCode.status, byPasskey.status]).toEqual([303, 303]);
    expect((await owner.get("/developers/account")).text).toContain("recovery codes are left");
  });

  it("asks for one to remove one, also right after another proof", async () => {
    const owner = await withPasskey();
    const { text } = await owner.get("/developers/account");
    const removal = /action="([^"]+\/remove)"/.exec(text)?.[1] ?? "";
    const asked = await owner.post(removal);
    const byPassword = await owner.post(removal, { "proof-password": password });
    const stranger = await withPasskey();
    const other = await stranger.post(removal);
    const foreign = await stranger.post(removal, {
      "proof-passkey": stranger.passkey.get(passkeyOptionsIn(other.text)),
    });
    const kept = await passwordFirst(owner);
    const removed = await owner.post(removal, {
      "proof-passkey": owner.passkey.get(passkeyOptionsIn(byPassword.text)),
    });
    const after = await signIn(openBrowser(desks.one), owner.email);
    const { rows } = await sql`
      select from access.recovery_code c join access.account a on a.id = c.account_id
      where a.email = ${owner.email}`.execute(desks.database.db);

    expect([asked.status, byPassword.status, foreign.status]).toEqual([401, 401, 303]);
    expect(kept.options.allowCredentials).toHaveLength(1);
    expect(removed.location).toBe("/developers/account?done=passkey-removed");
    expect([after.location, rows.length]).toEqual(["/developers", 0]);
    expect(desks.one.mails.at(-1)?.text).toContain("The passkey laptop was removed");
  });
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { codeAt, stepAt } from "#api/accounts/second-factor.ts";
import { accounts } from "#devnet/accounts.ts";
import { operate } from "#test/support/database/operator.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { signSiwe } from "#test/support/http/served-accounts.ts";
import {
  type Desk,
  linkOf,
  openBrowser,
  openDesk,
  password,
  secretIn,
  signIn,
  signUp,
  statusWith,
} from "./accounts-fixture.ts";
import { totpSecretIn } from "./totp-secret.ts";

let database: TestDatabase;
let desk: Desk;

beforeAll(async () => {
  database = await createDatabase();
  desk = await openDesk({ databaseUrl: database.url });
});
afterAll(async () => {
  await desk?.close();
  await database?.drop();
});

const op = (...args: string[]) => operate(database.url, "accounts", ...args);

it("op accounts suspends an account: its keys, tokens and sessions fail on the next request", async () => {
  const owner = await signUp(desk);
  const { email } = owner;
  const key = secretIn(await owner.post("/developers/keys", { name: "bot" }), "live");
  const clientKey = secretIn(await owner.post("/developers/client-key"), "client");
  const issued = await desk.tokens.issue({ email, clientKey }, "192.0.2.1");
  const token = "token" in issued ? issued.token : "";
  const before = [await statusWith(desk, key), (await desk.tokens.check(token)) !== null];

  const suspended = await op("suspend", email.toUpperCase(), "--json");
  const after = [await statusWith(desk, key), (await desk.tokens.check(token)) !== null];
  const login = await desk.tokens.issue({ email, clientKey }, "192.0.2.1");
  const page = await owner.get("/developers");
  const [wrong, right] = [
    await signIn(openBrowser(desk), email, "some wrong password"),
    await signIn(openBrowser(desk), email),
  ];
  const browser = openBrowser(desk);
  await browser.post("/developers/forgot", { email });
  const chosen = await browser.post("/developers/confirm", { link: linkOf(desk, email), password });

  expect(before).toEqual([422, true]);
  expect([suspended.code, JSON.parse(suspended.out)]).toMatchObject([0, { hasChanged: true }]);
  expect(after).toEqual([401, false]);
  expect(login).toMatchObject({ rejected: "invalid_credentials" });
  expect([page.status, wrong.status, right.status, chosen.status]).toEqual([303, 401, 403, 403]);
  expect(right.text).toContain("This account is suspended");

  const resumed = await op("resume", email);
  expect(resumed.out).toBe(`${email} is resumed\n`);
  expect([await statusWith(desk, key), (await desk.tokens.check(token)) !== null]).toEqual([
    422,
    true,
  ]);
  expect((await owner.get("/developers")).status).toBe(303);
  expect((await signIn(openBrowser(desk), email)).status).toBe(303);
});

it("op accounts lists accounts, shows one with its keys, and ends its sessions", async () => {
  const owner = await signUp(desk);
  const key = secretIn(await owner.post("/developers/keys", { name: "price bot" }), "live");
  const listed = await op("list", "--json");
  const account = JSON.parse(listed.out).accounts.find(
    ({ email }: { email: string }) => email === owner.email,
  );
  const shown = await op("show", `${account.id}`);
  const keys = await operate(database.url, "keys", "list");
  const ended = await op("delete-sessions", owner.email);

  expect(account).toMatchObject({
    keys: 1,
    hasClientKey: false,
    tokens: 0,
    sessions: 1,
    suspendedAt: null,
  });
  for (const { out } of [shown, keys]) {
    expect(out).toMatch(new RegExp(`price bot +${key.slice(-4)} .* valid +${owner.email}`));
    expect(out).not.toContain(key);
  }
  expect(ended.out).toBe(`1 sessions of ${owner.email} deleted\n`);
  expect((await owner.get("/developers")).status).toBe(303);
});

it("op accounts removes the second factor of an owner who has lost it", async () => {
  const owner = await signUp(desk);
  const path = "/developers/account/second-factor";
  const secret = totpSecretIn((await owner.post(path)).text);
  await owner.post(`${path}/confirm`, { code: codeAt(secret, stepAt(new Date())) });
  const needsCode = await signIn(openBrowser(desk), owner.email);

  const removed = await op("remove-second-factor", owner.email);
  const again = await op("remove-second-factor", owner.email, "--json");

  expect(needsCode.text).toContain(`name="pending"`);
  expect(removed.out).toBe(`the second factor of ${owner.email} is removed\n`);
  expect(removed.words).toMatch(/"Your second factor was changed".*mail not sent/);
  expect(JSON.parse(again.out)).toMatchObject({ hasChanged: false });
  expect((await signIn(openBrowser(desk), owner.email)).location).toBe("/developers");
});

it("op accounts knows an account that a wallet made by the wallet", async () => {
  const { address } = accounts.carol;
  const signed = await signSiwe(desk.accounts, accounts.carol);
  await openBrowser(desk).post("/developers/sign-in/wallet", { ...signed });
  const listed = await op("list");
  const suspended = await op("suspend", address);
  const refused = await openBrowser(desk).post("/developers/sign-in/wallet", {
    ...(await signSiwe(desk.accounts, accounts.carol)),
  });

  expect(listed.out).toContain(address.toLowerCase());
  expect(suspended.out).toBe(`${address.toLowerCase()} is suspended\n`);
  expect(refused.status).toBe(403);
});

it("op accounts says what it does not understand, and what is not there", async () => {
  const outcomes = await Promise.all([
    op("show"),
    op("show", "nobody"),
    op("show", "999"),
    op("suspend", "nobody@example.test"),
    op("resume", "999"),
  ]);

  expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 1, 1, 1]);
});

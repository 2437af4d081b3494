import { sql } from "kysely";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { codeAt, stepAt } from "#api/accounts/second-factor.ts";
import { accounts } from "#devnet/accounts.ts";
import { connect } from "#devnet/client.ts";
import {
  type Desk,
  newEmail,
  openDesk,
  password,
  statusWith,
} from "../integration/accounts/accounts-fixture.ts";
import { totpSecretIn } from "../integration/accounts/totp-secret.ts";
import { openReceivers, type Receivers } from "../integration/webhooks/receivers.ts";
import { expectVerified } from "../integration/webhooks/verifying.ts";
import { injectWallet } from "../support/chain/injected-wallet.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { openPage, startBrowser, type TestBrowser } from "../support/http/browser.ts";
import { follow, leave, lookAt, send } from "../support/http/page-walk.ts";
import { seedsOf } from "../support/thoroughness.ts";

let database: TestDatabase;
let fixture: Desk;
let testBrowser: TestBrowser;
let receivers: Receivers;

beforeAll(async () => {
  database = await createDatabase();
  receivers = await openReceivers();
  fixture = await openDesk({ databaseUrl: database.url, webhookOrigins: [receivers.origin] });
  testBrowser = await startBrowser();
});
afterAll(async () => {
  await testBrowser?.close();
  await fixture?.close();
  await receivers?.close();
  await database?.drop();
});

/** A wallet has a button of its own. */
const signInBy = (page: Page) =>
  leave(page, page.getByRole("button", { name: "Sign in", exact: true }));

async function signUp(page: Page, email: string): Promise<void> {
  await page.goto(`${fixture.url}/developers/sign-up`);
  await page.getByLabel("E-mail address").fill(email);
  await send(page, "Send the link");
  const link = new URL(fixture.mails.at(-1)?.link ?? "");
  await page.goto(`${fixture.url}${link.pathname}${link.search}`);
  await page.getByLabel("Password").fill(password);
  await send(page, "Create account");
}

const Login = z.object({ data: z.object({ token: z.string() }) });

/** The call that the page shows. */
async function exchange(email: string, clientKey: string): Promise<string> {
  const response = await fetch(`${fixture.url}/apechain/api/auth/login`, {
    method: "post",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, client_key: clientKey }),
  });
  return Login.parse(await response.json()).data.token;
}

/** Status of an invalid request: 422 for a caller who is authenticated. */
async function statusWithToken(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${fixture.url}/apechain/api/collections?limit=0`, { headers })).status;
}

type Story = {
  readonly page: Page;
  press(label: string): Promise<void>;
  picture(what: string): Promise<void>;
};

type Look = readonly [name: string, width: number, colorScheme: "light" | "dark"];

/** Tells a story in a window of its own, in which the browser complains of refused forms alone. */
async function tellStory(
  [name, width, colorScheme]: Look,
  tell: (story: Story) => Promise<void>,
): Promise<void> {
  const viewport = { width, height: 844 };
  const context = await testBrowser.browser.newContext({ viewport, colorScheme });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const { page, complaints } = await openPage(context);
  const press = (label: string) => send(page, label);
  await tell({ page, press, picture: (what) => lookAt(page, `${name}-${what}`) });
  await context.close();
  // What a browser writes of every answer above 399, ours among them.
  expect(complaints.filter((text) => !/status of (401|422)/.test(text))).toEqual([]);
}

/** From nothing to answers with a key, and to a token for the client key. */
async function tellOfKeys(story: Story): Promise<void> {
  const { page, press, picture } = story;
  const email = newEmail();
  await openAccount(story, email);
  const key = await makeKey(story);
  await press("Create client key");
  const clientKey = (await page.locator("#new-client-key").textContent()) ?? "";
  await picture("8-client-key");
  expect(await statusWithToken(await exchange(email, clientKey))).toBe(422);
  await page.goto(`${fixture.url}/developers`);
  await page.locator("summary", { hasText: "Revoke" }).first().click();
  await picture("9-in-use");
  await press("Revoke price bot");
  await page.getByText("The key is revoked").waitFor();
  expect(await statusWith(fixture, key)).toBe(401);

  await follow(page, "Account");
  await picture("10-account");
  await page.getByLabel("Current password").fill("some wrong password");
  await page.getByLabel("New password").fill("another password");
  await press("Change password");
  await picture("11-account-wrong");
  await press("Sign out");
  await page.getByText("You are signed out").waitFor();
}

async function openAccount({ page, press, picture }: Story, email: string): Promise<void> {
  await page.goto(`${fixture.url}/developers`);
  await picture("1-sign-in");
  await follow(page, "Create an account");
  await picture("2-sign-up");
  await page.getByLabel("E-mail address").fill("no address");
  await press("Send the link");
  await picture("3-wrong");
  expect(await page.evaluate("document.activeElement.id")).toBe("email");
  await page.getByLabel("E-mail address").fill(email);
  await press("Send the link");
  await picture("4-sent");

  const link = new URL(fixture.mails.at(-1)?.link ?? "");
  await page.goto(`${fixture.url}${link.pathname}${link.search}`);
  await picture("5-confirm");
  await page.getByLabel("Password").fill(password);
  await press("Create account");
  await picture("6-empty");
}

async function makeKey({ page, press, picture }: Story): Promise<string> {
  await page.getByLabel("Name of a new key").fill("price bot");
  await press("Create key");
  const key = (await page.locator("#new-key").textContent()) ?? "";
  await picture("7-new-key");
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(key);
  expect(await statusWith(fixture, key)).toBe(422);
  await fixture.flushUsage();
  await page.reload();
  expect(await page.getByText(key).count()).toBe(0);
  expect(await page.getByRole("rowheader", { name: "price bot" }).count()).toBe(1);
  return key;
}

/** A form that is refused is an answer of 4xx, which the browser tells of. */
const isFault = (text: string): boolean => !/Failed to load resource/.test(text);

/** As if the account's last proof were a day old. */
const forgetProofOf = (email: string) =>
  sql`
    update access.session set authenticated_at = now() - interval '1 day'
    where account_id = (select id from access.account where email = ${email})`.execute(database.db);

/** As if no code of the account's had been used: none works twice. */
const forgetCodesOf = (email: string) =>
  sql`
    update access.second_factor set last_step = 0
    where account_id = (select id from access.account where email = ${email})`.execute(database.db);

/** A second factor, a key with terms, its requests, and the end of the account. */
async function tellOfSecurity(story: Story): Promise<void> {
  const { page } = story;
  const email = newEmail();
  /** The current code, which also works in the next half minute: a step may end before it is sent. */
  const enterCode = async (secret: Uint8Array) => {
    await forgetCodesOf(email);
    await page.getByRole("textbox", { name: "Code" }).fill(codeAt(secret, stepAt(new Date())));
  };

  await signUp(page, email);
  const secret = await setUpSecondFactor(story, enterCode);
  await forgetProofOf(email);
  const key = await makeKeyWithTerms(story, () => enterCode(secret));
  await deleteAccount(story, email, () => enterCode(secret));
  expect(await statusWith(fixture, key)).toBe(401);
}

async function setUpSecondFactor(
  { page, press, picture }: Story,
  enterCode: (secret: Uint8Array) => Promise<void>,
): Promise<Uint8Array> {
  await page.goto(`${fixture.url}/developers/account`);
  await press("Set up an authenticator program");
  await picture("1-secret");
  const secret = totpSecretIn(await page.content());
  await page.getByRole("textbox", { name: "Code" }).fill("000000");
  await press("Switch on");
  await picture("2-wrong-code");
  await enterCode(secret);
  await press("Switch on");
  await picture("3-recovery-codes");
  await follow(page, "Back to the account");
  await picture("4-account");
  return secret;
}

async function makeKeyWithTerms(
  { page, press, picture }: Story,
  enterCode: () => Promise<void>,
): Promise<string> {
  await page.goto(`${fixture.url}/developers`);
  await page.getByLabel("Name of a new key").fill("limited bot");
  await page.locator("summary", { hasText: "Scopes, expiry, networks" }).click();
  await page.getByLabel("Networks that may use it").fill("anywhere");
  await picture("5-terms");
  await press("Create key");
  await picture("6-proof");
  await enterCode();
  await press("Continue");
  await picture("7-wrong-terms");
  await page.getByLabel("Networks that may use it").fill("127.0.0.0/8");
  await page.getByLabel("orders:").uncheck();
  await press("Create key");
  const key = (await page.locator("#new-key").textContent()) ?? "";
  expect(await statusWith(fixture, key)).toBe(422);
  const longPath = `${fixture.url}/v1/listings/mkt-0x${"ab".repeat(32)}`;
  await fetch(longPath, { headers: { "x-api-key": key } });
  await fixture.flushUsage();
  await follow(page, "limited bot");
  await page.getByText("GET /v1/orders/params").waitFor();
  await picture("8-key");
  return key;
}

async function deleteAccount(
  { page, press, picture }: Story,
  email: string,
  enterCode: () => Promise<void>,
): Promise<void> {
  await follow(page, "Account");
  await press("Sign out");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await signInBy(page);
  await picture("9-code");
  await enterCode();
  await signInBy(page);
  await follow(page, "Account");
  await page.getByLabel("E-mail address of this account").fill("somebody@else.test");
  await press("Delete the account");
  await picture("10-wrong-address");
  await page.getByLabel("E-mail address of this account").fill(email);
  await press("Delete the account");
  await picture("11-deleted");
}

/** A webhook, from its making to its end. */
async function tellOfWebhooks(story: Story): Promise<void> {
  const { page, press, picture } = story;
  const path = `/hooks/${crypto.randomUUID()}/with/a/path/that/is/longer/than/a/narrow/window/is/wide`;
  await signUp(page, newEmail());
  const secret = await makeWebhook(story, path);
  await press("Send a test");
  await page.getByText("was answered with 200").waitFor();
  await picture("5-tested");
  const [received] = receivers.at(path);
  if (received === undefined) throw new Error("nothing was sent");
  expectVerified(received, secret);
  await page.locator("summary", { hasText: "Rotate the secret" }).click();
  await picture("6-rotate");
  await press("Rotate the secret of webhook");
  await picture("7-rotated");
  await page.getByLabel("Send again what came after").fill("yesterday");
  await press("Replay");
  await picture("8-no-place");
  await page.getByLabel("Send again what came after").fill("0-0");
  await press("Replay");
  await page.getByText("are being sent again").waitFor();
  await press("Disable");
  await picture("9-disabled");
  await page.locator("summary", { hasText: "Delete" }).click();
  await press("Delete webhook");
  await page.getByText("The webhook is deleted").waitFor();
}

async function makeWebhook({ page, press, picture }: Story, path: string): Promise<string> {
  await follow(page, "Webhooks");
  await picture("1-empty");
  await page.getByLabel("Address", { exact: true }).fill("https://127.0.0.1/");
  await page.getByLabel("Types of events").fill("sale, listing");
  await press("Create webhook");
  await picture("2-wrong");
  expect(await page.evaluate("document.activeElement.id")).toBe("url");
  await page.getByLabel("Address", { exact: true }).fill(receivers.origin + path);
  await page.getByLabel("When", { exact: true }).selectOption("final");
  await press("Create webhook");
  const secret = (await page.locator("#new-secret").textContent()) ?? "";
  await picture("3-secret");
  await page.reload();
  expect(await page.getByText(secret).count()).toBe(0);
  await follow(page, path);
  await picture("4-webhook");
  return secret;
}

const webhookLooks: readonly Look[] = [
  ["webhooks-narrow", 390, "dark"],
  ["webhooks-wide", 1280, "light"],
];
const securityLooks: readonly Look[] = [
  ["secure-narrow", 390, "dark"],
  ["secure-wide", 1280, "light"],
];
const keyLooks: readonly Look[] = [
  ["wide", 1280, "light"],
  ["narrow", 390, "dark"],
  ["narrow-light", 390, "light"],
  ["wide-dark", 1280, "dark"],
];

describe("the developer section in a browser", () => {
  it.each(seedsOf(webhookLooks))("makes a webhook, tests it and deletes it: %s", (...look) =>
    tellStory(look, tellOfWebhooks),
  );
  it.each(seedsOf(securityLooks))("secures an account and ends it: %s", (...look) =>
    tellStory(look, tellOfSecurity),
  );
  it.each(seedsOf(keyLooks))("leads from nothing to keys that work: %s", (...look) =>
    tellStory(look, tellOfKeys),
  );

  it("gives an account's data as often as it is asked for, also after a proof", async () => {
    const context = await testBrowser.browser.newContext();
    const { page } = await openPage(context);
    const email = newEmail();
    await page.clock.install();
    await signUp(page, email);
    await page.goto(`${fixture.url}/developers/account`);
    let downloads = 0;
    page.on("download", () => {
      downloads += 1;
    });
    const downloadTwice = async (label: string) => {
      const before = downloads;
      const button = page.getByRole("button", { name: label });
      await button.dblclick();
      await expect.poll(() => downloads).toBe(before + 1);
      await page.clock.runFor(2_000);
      await button.click();
      await expect.poll(() => downloads).toBe(before + 2);
      await page.clock.runFor(2_000);
    };
    await downloadTwice("Download your data");
    await forgetProofOf(email);
    await send(page, "Download your data");
    await page.getByLabel("Password").fill(password);
    await downloadTwice("Continue");
    await context.close();
  });

  it.each([390, 1440])("signs in by a wallet at %i px, and links another one", async (width) => {
    const context = await testBrowser.browser.newContext({ viewport: { width, height: 844 } });
    const chainId = 33139;
    const rpcUrl = "http://127.0.0.1:9";
    const chain = { chainId, rpcUrl, client: connect({ chainId, rpcUrl }) } as const;
    const wallet = await injectWallet(context, [chain], ["alice"]);
    wallet.showChain(chainId);
    const { page, complaints } = await openPage(context);
    const name = `wallet-${width}`;
    await page.goto(`${fixture.url}/developers/sign-in`);
    await lookAt(page, `${name}-1-sign-in`);
    wallet.refuseNext();
    await page.getByRole("button", { name: "Sign in with your wallet" }).click();
    await page.getByText("You said no in the wallet").waitFor();
    await send(page, "Sign in with your wallet");
    await lookAt(page, `${name}-2-keys`);
    await follow(page, "Account");
    await page.getByText(`Signed in as ${accounts.alice.address.toLowerCase()}`).waitFor();
    await lookAt(page, `${name}-3-account`);
    await page.locator("summary", { hasText: "Unlink" }).click();
    await send(page, "Unlink the wallet");
    await page.getByRole("alert").getByText("Nobody could sign in without this wallet").waitFor();
    await lookAt(page, `${name}-4-last`);
    await sql`update access.session set authenticated_at = now() - interval '1 day'`.execute(
      database.db,
    );
    await page.goto(`${fixture.url}/developers`);
    await page.getByLabel("Name of a new key").fill("by wallet");
    await send(page, "Create key");
    await lookAt(page, `${name}-5-proof`);
    await send(page, "Sign with your wallet");
    const key = (await page.locator("#new-key").textContent()) ?? "";
    expect(await statusWith(fixture, key)).toBe(422);
    await context.close();
    expect([wallet.asked.signatures, complaints.filter(isFault)]).toEqual([2, []]);
  });

  it("asks which of several wallets signs in, and says where there is none", async () => {
    const context = await testBrowser.browser.newContext();
    const chainId = 33139;
    const rpcUrl = "http://127.0.0.1:9";
    const chain = { chainId, rpcUrl, client: connect({ chainId, rpcUrl }) } as const;
    const wallet = await injectWallet(context, [chain], ["bob"], ["Other"]);
    wallet.showChain(chainId);
    const { page } = await openPage(context);
    await page.goto(`${fixture.url}/developers/sign-in`);
    await page.getByRole("button", { name: "Sign in with your wallet" }).click();
    await page.getByText("Which wallet?").waitFor();
    await lookAt(page, "wallet-which");
    await send(page, "Test wallet");
    expect(new URL(page.url()).pathname).toBe("/developers");
    await context.close();
    const without = await testBrowser.browser.newContext();
    const { page: bare } = await openPage(without);
    await bare.goto(`${fixture.url}/developers/sign-in`);
    await bare.getByRole("button", { name: "Sign in with your wallet" }).click();
    await bare.getByText("No wallet in this browser").waitFor();
    await without.close();
  });

  it("does all of it without scripts", async () => {
    const context = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const email = newEmail();
    await signUp(page, email);
    await page.getByLabel("Name of a new key").fill("no script");
    await send(page, "Create key");
    const key = (await page.locator("#new-key").textContent()) ?? "";
    const works = await statusWith(fixture, key);
    await page.locator("summary", { hasText: "Revoke" }).click();
    await send(page, "Revoke no script");
    await context.close();

    expect([works, await statusWith(fixture, key)]).toEqual([422, 401]);
  });
});

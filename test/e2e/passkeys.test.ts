import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "#ops/free-port.ts";
import {
  type Desk,
  linkOf,
  newEmail,
  openDesk,
  password,
} from "../integration/accounts/accounts-fixture.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { openPage, startBrowser, type TestBrowser } from "../support/http/browser.ts";
import { follow, leave, lookAt, send } from "../support/http/page-walk.ts";

let database: TestDatabase;
let desk: Desk;
let testBrowser: TestBrowser;
/** Browsers know passkeys on https and localhost only, and tell the port where they answer. */
let site: string;

beforeAll(async () => {
  database = await createDatabase();
  const port = await findFreePort();
  site = `http://localhost:${port}`;
  desk = await openDesk({ databaseUrl: database.url, baseUrl: site, port });
  testBrowser = await startBrowser();
});
afterAll(async () => {
  await testBrowser?.close();
  await desk?.close();
  await database?.drop();
});

/** A device of Chromium's own that has passkeys, and whose user says yes. */
async function addDevice(context: BrowserContext, page: Page) {
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...({ protocol: "ctap2", transport: "internal" } as const),
      ...{ hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    credentials: async () =>
      (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    /** As if it had been put back to what it was before. */
    async restore(credential: Awaited<ReturnType<typeof this.credentials>>[number]) {
      await session.send("WebAuthn.clearCredentials", { authenticatorId });
      await session.send("WebAuthn.addCredential", { authenticatorId, credential });
    },
  };
}

async function signUp(page: Page): Promise<string> {
  const email = newEmail();
  await page.goto(`${site}/developers/sign-up`);
  await page.getByLabel("E-mail address").fill(email);
  await send(page, "Send the link");
  await page.goto(`${site}/developers/confirm?link=${linkOf(desk, email)}`);
  await page.getByLabel("Password").fill(password);
  await send(page, "Create account");
  return email;
}

async function signInAgain(page: Page, email: string): Promise<void> {
  await send(page, "Sign out");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await leave(page, page.getByRole("button", { name: "Sign in", exact: true }));
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto(`${site}/developers/account`);
  await page.getByLabel("Name of a new passkey").fill(name);
  await send(page, "Add a passkey");
}

describe("passkeys in a browser", () => {
  it.each([390, 1440])("are added, asked for, and removed at %i px", async (width) => {
    const viewport = { width, height: 844 };
    const context = await testBrowser.browser.newContext({ viewport });
    const { page, complaints } = await openPage(context);
    const picture = (what: string) => lookAt(page, `passkeys-${width}-${what}`);
    const device = await addDevice(context, page);
    const email = await signUp(page);

    await addPasskey(page, "this laptop");
    await picture("1-offer");
    await send(page, "Make the passkey");
    await picture("2-recovery-codes");
    const [recoveryCode = ""] =
      (await page.locator("#recovery-codes").textContent())?.split("\n") ?? [];
    await addPasskey(page, "again");
    await page.getByRole("button", { name: "Make the passkey" }).click();
    await page.getByText("This device has a passkey of this account already").waitFor();
    await follow(page, "Back to the account");
    await picture("3-account");
    const [made] = await device.credentials();
    if (made === undefined) throw new Error("the device has no passkey");

    await signInAgain(page, email);
    const early = await context.newPage();
    await early.goto(`${site}/developers`);
    expect(new URL(early.url()).pathname, "no session before").toBe("/developers/sign-in");
    await early.close();
    await picture("4-second-factor");
    await send(page, "Use a passkey");
    expect(new URL(page.url()).pathname).toBe("/developers");

    await device.restore(made);
    await follow(page, "Account");
    await signInAgain(page, email);
    await send(page, "Use a passkey");
    await page.getByText("This passkey was not accepted").waitFor();
    await picture("5-copy");
    await page.getByLabel("Recovery code").fill(recoveryCode);
    await send(page, "Sign in by code");
    expect(new URL(page.url()).pathname).toBe("/developers");

    await device.restore({ ...made, signCount: 100 });
    await follow(page, "Account");
    await page.locator("summary", { hasText: "Remove" }).click();
    await send(page, "Remove the passkey this laptop");
    await picture("6-proof");
    await send(page, "Use a passkey");
    await page.getByText("The passkey is removed").waitFor();
    await picture("7-removed");
    await signInAgain(page, email);
    expect(new URL(page.url()).pathname).toBe("/developers");
    await context.close();
    // What a browser writes of every answer above 399.
    expect(complaints.filter((text) => !/status of 401/.test(text))).toEqual([]);
  });

  it("are left to recovery codes without scripts", async () => {
    const context = await testBrowser.browser.newContext();
    const { page } = await openPage(context);
    await addDevice(context, page);
    const email = await signUp(page);
    await addPasskey(page, "this laptop");
    await send(page, "Make the passkey");
    const [code = ""] = (await page.locator("#recovery-codes").textContent())?.split("\n") ?? [];
    await context.close();
    const plain = await testBrowser.browser.newContext({ javaScriptEnabled: false });
    const bare = await plain.newPage();
    await bare.goto(`${site}/developers/sign-in`);
    await bare.getByLabel("E-mail address").fill(email);
    await bare.getByLabel("Password").fill(password);
    await send(bare, "Sign in");
    // Text in this element is not looked for by text.
    expect(await bare.locator("noscript").innerText()).toContain("A passkey answers by a script");
    expect(await bare.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
    await bare.getByLabel("Recovery code").fill(code);
    await send(bare, "Sign in by code");
    expect(new URL(bare.url()).pathname).toBe("/developers");
    await plain.close();
  });
});

import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Browser,
  type Desk,
  openBrowser,
  password,
  signIn,
  signUp,
} from "./accounts-fixture.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const minuteMs = 60_000;
const desks = useTwoDesks(start);
const account = "/developers/account";

const newWallet = () => privateKeyToAccount(generatePrivateKey());
type Wallet = ReturnType<typeof newWallet>;

const Offer = z.object({ data: z.object({ message: z.string() }) });

/** What the script of the pages does. `names`: of the form's fields. */
async function signed(desk: Desk, wallet: Wallet, prefix = ""): Promise<Record<string, string>> {
  const response = await fetch(`${desk.url}/v1/auth/siwe/nonce`, {
    method: "post",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ address: wallet.address, chainId: 33139 }),
  });
  const { message } = Offer.parse(await response.json()).data;
  const signature = await wallet.signMessage({ message });
  return { [`${prefix}message`]: message, [`${prefix}signature`]: signature };
}

async function signInBy(wallet: Wallet, desk = desks.one, browser = openBrowser(desk)) {
  const page = await browser.post("/developers/sign-in/wallet", await signed(desk, wallet));
  return { browser, page };
}

const link = async (browser: Browser, wallet: Wallet) =>
  browser.post(`${account}/wallets`, await signed(desks.one, wallet));

/** The row of a wallet on the account's page. */
async function unlink(browser: Browser, wallet: Wallet) {
  const { text } = await browser.get(account);
  const row = new RegExp(`${wallet.address.toLowerCase()}</code>.*?/wallets/(\\d+)/unlink`, "s");
  return browser.post(`${account}/wallets/${row.exec(text)?.[1]}/unlink`);
}

describe("an account that a wallet made", () => {
  it("has no password, is called by its wallet, and is deleted by that name", async () => {
    const wallet = newWallet();
    const { browser, page } = await signInBy(wallet);
    expect(page.location).toBe("/developers");
    const shown = await browser.get(account);
    expect(shown.text).toContain(
      `Signed in as <strong class="address">${wallet.address.toLowerCase()}`,
    );
    expect(shown.text).not.toContain("Current password");
    expect((await browser.get("/developers")).status).toBe(200);
    const wrong = await browser.post(`${account}/delete`, { name: newWallet().address });
    const gone = await browser.post(`${account}/delete`, { name: wallet.address });
    expect([wrong.status, gone.status, browser.cookie]).toEqual([422, 200, null]);
  });

  it("gives its wallet in the export, and no mail goes anywhere", async () => {
    const before = desks.one.mails.filter(({ to }) => to !== null).length;
    const wallet = newWallet();
    const { browser } = await signInBy(wallet);
    await browser.get("/developers");
    await browser.post("/developers/keys", { name: "one", "scope-read": "on" });
    const data: unknown = JSON.parse((await browser.post(`${account}/export`)).text);
    const address = wallet.address.toLowerCase();
    expect(data).toMatchObject({
      account: [{ email: null }],
      wallet: [{ address, chain_id: null }],
    });
    expect(desks.one.mails.filter(({ to }) => to !== null)).toHaveLength(before);
  });

  it("keeps its last wallet, and gives up another", async () => {
    const [first, second] = [newWallet(), newWallet()];
    const { browser } = await signInBy(first);
    await browser.get(account);
    const kept = await unlink(browser, first);
    expect([kept.status, kept.text.includes("Nobody could sign in")]).toEqual([409, true]);
    expect((await link(browser, second)).location).toBe(`${account}?done=wallet`);
    expect((await unlink(browser, first)).location).toBe(`${account}?done=unlinked`);
    expect((await unlink(browser, second)).status).toBe(409);
    const again = await signInBy(second);
    expect((await again.browser.get(account)).text).toContain(second.address.toLowerCase());
  });

  it("asks for a recent proof by a wallet of its own, and by no other", async () => {
    const wallet = newWallet();
    const { browser } = await signInBy(wallet);
    await browser.get(account);
    desks.clock = desks.later(16 * minuteMs);
    const asked = await browser.post("/developers/keys", { name: "late", "scope-read": "on" });
    const prove = async (by: Wallet) => ({
      ...{ name: "late", "scope-read": "on" },
      ...(await signed(desks.one, by, "proof-")),
    });
    expect([asked.status, asked.text.includes("Sign with your wallet")]).toEqual([401, true]);
    const foreign = await browser.post("/developers/keys", await prove(newWallet()));
    const own = await prove(wallet);
    const proven = await browser.post("/developers/keys", own);
    expect([foreign.status, proven.status]).toEqual([401, 200]);
    expect(proven.text).toMatch(/mk_live_/);
    desks.clock = desks.later(32 * minuteMs);
    expect((await browser.post("/developers/keys", own)).status).toBe(401);
  });
});

describe("an account with an e-mail address", () => {
  it("links wallets that sign in to it, tells the owner, and may unlink each of them", async () => {
    const browser = await signUp(desks.one);
    await browser.get(account);
    const wallet = newWallet();
    expect((await link(browser, wallet)).location).toBe(`${account}?done=wallet`);
    expect(desks.one.mails.at(-1)).toMatchObject({
      to: browser.email,
      subject: "The wallets of your account were changed",
    });
    const by = await signInBy(wallet, desks.other);
    expect((await by.browser.get(account)).text).toContain(browser.email);
    expect((await unlink(browser, wallet)).location).toBe(`${account}?done=unlinked`);
    const later = await signInBy(wallet);
    expect((await later.browser.get(account)).text).not.toContain(browser.email);
    expect((await signIn(openBrowser(desks.one), browser.email, password)).location).toBe(
      "/developers",
    );
  });

  it("takes no wallet of another account, and none by a session whose proof is old", async () => {
    const taken = newWallet();
    await signInBy(taken);
    const browser = await signUp(desks.one);
    await browser.get(account);
    expect((await link(browser, taken)).status).toBe(409);
    desks.clock = desks.later(16 * minuteMs);
    const late = await link(browser, newWallet());
    expect([late.status, late.text.includes("Confirm that it is you")]).toEqual([401, true]);
  });

  it("takes a sign-in only from its own pages", async () => {
    const browser = openBrowser(desks.one);
    const fields = await signed(desks.one, newWallet());
    const foreign = await browser.post("/developers/sign-in/wallet", fields, {
      origin: "https://evil.example.test",
      "sec-fetch-site": "cross-site",
    });
    expect([foreign.status, browser.cookie]).toEqual([403, null]);
  });
});

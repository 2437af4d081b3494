import { type Address, hashMessage, type LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage, parseSiweMessage, type SiweMessage } from "viem/siwe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { codeAt, stepAt } from "#api/accounts/second-factor.ts";
import { accounts } from "#devnet/accounts.ts";
import { type Anvil, startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import { deploySafe } from "#test/support/chain/safe.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type Desk, openBrowser, openDesk, statusWith } from "./accounts-fixture.ts";
import { totpSecretIn } from "./totp-secret.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const minuteMs = 60_000;
const chainId = 33139;
const origin = "https://market.example.test";

let database: TestDatabase;
let node: Anvil;
let safe: Address;
/** Two processes on one database. */
let one: Desk;
let other: Desk;
let now = start;

beforeAll(async () => {
  [database, node] = await Promise.all([createDatabase(), startAnvil({ chainId })]);
  safe = await deploySafe(connect(node), [accounts.alice.address], 1);
  const rpcUrls = { [chainId]: node.rpcUrl };
  const options = { databaseUrl: database.url, clock: () => now, baseUrl: origin, rpcUrls };
  [one, other] = await Promise.all([openDesk(options), openDesk(options)]);
}, 60_000);
beforeEach(() => {
  now = start;
});
afterAll(async () => {
  await Promise.all([one?.close(), other?.close()]);
  await Promise.all([database?.drop(), node?.stop()]);
});

const newWallet = () => privateKeyToAccount(generatePrivateKey());

let callers = 0;
/** Each from a network of its own: attempts are counted by network. */
const newNetwork = () => {
  callers += 1;
  return `10.8.${callers >> 8}.${callers & 255}`;
};

async function post(desk: Desk, path: string, body: unknown, network = newNetwork()) {
  const response = await fetch(`${desk.url}/v1/auth/${path}`, {
    method: "post",
    headers: { "content-type": "application/json", "x-forwarded-for": network },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { code?: string; data?: unknown; message?: string };
  return { status: response.status, ...answer };
}

const Offer = z.object({
  message: z.string(),
  nonce: z.string(),
  domain: z.string(),
  uri: z.string(),
  expiresAt: z.coerce.date(),
});
const Made = z.object({
  key: z.string(),
  name: z.string(),
  wallet: z.string(),
  requestsPerMinute: z.number(),
  scopes: z.array(z.string()),
});

async function offer(address: Address, desk = one) {
  const { status, data } = await post(desk, "siwe/nonce", { address, chainId });
  expect(status).toBe(201);
  return Offer.parse(data);
}

/** A message that a wallet's own program writes. */
const ownMessage = async (wallet: LocalAccount, changed: Partial<SiweMessage> = {}) => {
  const { nonce, domain, uri } = await offer(wallet.address);
  const terms = { address: wallet.address, chainId, domain, uri, nonce, issuedAt: now };
  return createSiweMessage({ version: "1", ...terms, ...changed });
};

async function signed(wallet: LocalAccount, message?: string) {
  const text = message ?? (await offer(wallet.address)).message;
  return { message: text, signature: await wallet.signMessage({ message: text }) };
}

describe("a message to sign", () => {
  it("is one of ERC-4361 for this service, this wallet and ten minutes", async () => {
    const wallet = newWallet();
    const { message, nonce, domain, uri, expiresAt } = await offer(wallet.address);
    const { statement, ...terms } = parseSiweMessage(message);
    expect(statement).toMatch(/Sign in/);
    expect(terms).toEqual({
      ...{ address: wallet.address, chainId, nonce, version: "1", issuedAt: start },
      ...{ domain: "market.example.test", uri: origin, expirationTime: expiresAt },
    });
    expect([domain, uri]).toEqual(["market.example.test", origin]);
    expect(expiresAt).toEqual(new Date(start.getTime() + 10 * minuteMs));
    expect(createSiweMessage({ ...parseSiweMessage(message) } as SiweMessage)).toBe(message);
  });

  it("is bounded by network", async () => {
    const network = newNetwork();
    const { address } = newWallet();
    const ask = () => post(one, "siwe/nonce", { address, chainId }, network);
    const answers = [];
    for (let asked = 0; asked < 61; asked += 1) answers.push(await ask());
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(60);
    expect(answers.at(-1)).toMatchObject({ status: 429, code: "rate_limited" });
  });
});

describe("a key by a wallet", () => {
  it("works, in any process, and the wallet's next sign-in is of the same account", async () => {
    const wallet = newWallet();
    const made = Made.parse((await post(other, "siwe", await signed(wallet))).data);
    expect(made).toMatchObject({ name: "Wallet", wallet: wallet.address.toLowerCase() });
    expect([made.requestsPerMinute, made.scopes.length]).toEqual([120, 4]);
    expect(await statusWith(one, made.key)).not.toBe(401);
    const browser = openBrowser(one);
    const page = await browser.post("/developers/sign-in/wallet", await signed(wallet));
    expect(page.location).toBe("/developers");
    expect((await browser.get("/developers")).text).toContain(`${made.key.slice(-4)})`);
  });

  it("has the scopes that were asked for, and takes the place of that of its name", async () => {
    const wallet = newWallet();
    const ask = async (more: object) =>
      Made.parse((await post(one, "siwe", { ...(await signed(wallet)), ...more })).data);
    const first = await ask({ name: "bot" });
    const second = await ask({ name: "bot", scopes: ["read"] });
    const third = await ask({ name: "else" });
    expect(second.scopes).toEqual(["read"]);
    now = new Date(start.getTime() + 23 * 60 * minuteMs);
    const statuses = () =>
      Promise.all([first, second, third].map(({ key }) => statusWith(one, key)));
    const before = await statuses();
    now = new Date(start.getTime() + 25 * 60 * minuteMs);
    expect([before.includes(401), (await statuses()).map((status) => status === 401)]).toEqual([
      false,
      [true, false, false],
    ]);
  });

  it("is refused for a message that was used, also to two at once", async () => {
    const body = await signed(newWallet());
    const answers = await Promise.all([one, other].map((desk) => post(desk, "siwe", body)));
    const again = await post(one, "siwe", body);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 401]);
    expect(again).toMatchObject({ status: 401, code: "siwe_expired" });
  });

  it("of a new wallet's two messages at once makes one account", async () => {
    const wallet = newWallet();
    const bodies = [await signed(wallet), await signed(wallet)];
    const answers = await Promise.all(
      bodies.map((body, index) =>
        post(index === 0 ? one : other, "siwe", { ...body, name: `${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const browser = openBrowser(one);
    await browser.post("/developers/sign-in/wallet", await signed(wallet));
    const { text } = await browser.get("/developers");
    for (const { data } of answers) expect(text).toContain(`${Made.parse(data).key.slice(-4)})`);
  });

  it.each<[string, Partial<SiweMessage>, number, string]>([
    ["another domain", { domain: "evil.example.test" }, 422, "bad_siwe_message"],
    ["another address", { uri: "https://evil.example.test/" }, 422, "bad_siwe_message"],
    ["another scheme", { scheme: "http" }, 422, "bad_siwe_message"],
    ["a chain that is not served", { chainId: 1 }, 422, "unsupported_chain"],
    ["a nonce that is not ours", { nonce: "abcdefgh12345678" }, 401, "siwe_expired"],
    ["an end that is over", { expirationTime: start }, 401, "siwe_expired"],
    ["a beginning to come", { notBefore: new Date(start.getTime() + 1) }, 401, "siwe_expired"],
  ])("is refused for a message with %s", async (_, changed, status, code) => {
    const wallet = newWallet();
    const body = await signed(wallet, await ownMessage(wallet, changed));
    expect(await post(one, "siwe", body)).toMatchObject({ status, code });
  });

  it("is made by a wallet's own message, with its address in any case", async () => {
    const wallet = newWallet();
    const message = await ownMessage(wallet, { uri: `${origin}/login`, statement: "Mine" });
    const body = await signed(
      wallet,
      message.replace(wallet.address, wallet.address.toLowerCase()),
    );
    expect((await post(one, "siwe", body)).status).toBe(201);
  });

  it("is refused for what is no message, and for bytes that are no signature", async () => {
    const { signature } = await signed(newWallet());
    const noMessage = await post(one, "siwe", { message: "hello", signature });
    expect(noMessage).toMatchObject({ status: 422, code: "bad_siwe_message" });
    const noSignature = await post(one, "siwe", { message: "hello", signature: "0x1" });
    expect(noSignature).toMatchObject({ status: 422, code: "bad_structure" });
  });

  it("is refused once the nonce's ten minutes are over", async () => {
    const wallet = newWallet();
    const body = await signed(wallet, await ownMessage(wallet));
    now = new Date(start.getTime() + 10 * minuteMs);
    expect(await post(one, "siwe", body)).toMatchObject({ status: 401, code: "siwe_expired" });
  });

  it("is refused to whoever did not sign, who does not use up the message", async () => {
    const wallet = newWallet();
    const body = await signed(wallet);
    const forged = { ...body, signature: (await signed(newWallet(), body.message)).signature };
    expect(await post(one, "siwe", forged)).toMatchObject({ status: 401, code: "wrong_signature" });
    expect((await post(one, "siwe", body)).status).toBe(201);
  });

  it("is bounded in its failures, and in accounts of new wallets, by network", async () => {
    const [guessing, collecting] = [newNetwork(), newNetwork()];
    const { signature } = await signed(newWallet());
    const guesses = [];
    for (let made = 0; made < 31; made += 1)
      guesses.push(await post(one, "siwe", { message: "no", signature }, guessing));
    expect(guesses.map(({ status }) => status)).toEqual([...Array(30).fill(422), 429]);
    const wallets = [newWallet(), newWallet(), newWallet(), newWallet()];
    const statuses = [];
    for (const wallet of [...wallets, ...wallets])
      statuses.push((await post(one, "siwe", await signed(wallet), collecting)).status);
    expect(statuses).toEqual([201, 201, 201, 429, 201, 201, 201, 429]);
  });

  it("needs the code of the second factor, where the account has one", async () => {
    const wallet = newWallet();
    const browser = openBrowser(one);
    await browser.post("/developers/sign-in/wallet", await signed(wallet));
    await browser.get("/developers/account");
    const path = "/developers/account/second-factor";
    const secret = totpSecretIn((await browser.post(path)).text);
    const codeNow = () => codeAt(secret, stepAt(now));
    await browser.post(`${path}/confirm`, { code: codeNow() });
    now = new Date(start.getTime() + minuteMs);
    const body = await signed(wallet);
    const without = await post(one, "siwe", body);
    const wrong = await post(one, "siwe", { ...body, code: "000000" });
    const right = await post(one, "siwe", { ...body, code: codeNow() });
    expect([without.code, wrong.code, right.status]).toEqual([
      "second_factor_required",
      "wrong_code",
      201,
    ]);
    const again = openBrowser(one);
    const page = await again.post("/developers/sign-in/wallet", await signed(wallet));
    expect([page.status, again.cookie]).toEqual([200, null]);
    expect(page.text).toContain('name="pending"');
  });
});

describe("a wallet that is a contract", () => {
  const safeSigned = async (by: LocalAccount) => {
    const { message } = await offer(safe);
    const signature = await by.signTypedData({
      domain: { chainId, verifyingContract: safe },
      types: { SafeMessage: [{ name: "message", type: "bytes" }] },
      primaryType: "SafeMessage",
      message: { message: hashMessage(message) },
    });
    return { message, signature };
  };

  it("signs in by what its code on the message's chain accepts (ERC-1271), and by nothing else", async () => {
    const made = await post(one, "siwe", await safeSigned(accounts.alice));
    const stranger = await post(one, "siwe", await safeSigned(accounts.bob));
    expect(Made.parse(made.data).wallet).toBe(safe.toLowerCase());
    expect(stranger).toMatchObject({ status: 401, code: "wrong_signature" });
    const browser = openBrowser(other);
    await browser.post("/developers/sign-in/wallet", await safeSigned(accounts.alice));
    const { text } = await browser.get("/developers/account");
    expect(text).toContain("its contract on ApeChain");
  });

  it("is not refused for good while no node answers", async () => {
    const body = await safeSigned(accounts.alice);
    const dark = await openDesk({
      ...{ databaseUrl: database.url, clock: () => now, baseUrl: origin },
      rpcUrls: { [chainId]: "http://127.0.0.1:9" },
    });
    const unknown = await post(dark, "siwe", body);
    await dark.close();
    expect(unknown).toMatchObject({ status: 503, code: "rpc_unavailable" });
    expect((await post(one, "siwe", body)).status).toBe(201);
  });
});

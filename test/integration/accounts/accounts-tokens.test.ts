import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { makeKey } from "#api/keys/key-text.ts";
import { type Browser, newEmail, secretIn, signUp } from "./accounts-fixture.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const [minuteMs, dayMs] = [60_000, 86_400_000];
const desks = useTwoDesks(start);

let addresses = 0;

const newAddress = () => {
  addresses += 1;
  return `192.0.2.${addresses}`;
};

/** An account with a client key. */
async function client() {
  const browser = await signUp(desks.one);
  return { browser, email: browser.email, clientKey: await clientKeyOf(browser) };
}

const clientKeyOf = async (browser: Browser) =>
  secretIn(await browser.post("/developers/client-key"), "client");

type Login = { email: string; clientKey: string };

async function tokenFor({ email, clientKey }: Login): Promise<string> {
  const issued = await desks.one.tokens.issue({ email, clientKey }, newAddress());
  if ("rejected" in issued) throw new Error(issued.message);
  return issued.token;
}

const codeOf = async (login: Login, address = newAddress(), at = desks.one) => {
  const issued = await at.tokens.issue(login, address);
  return "rejected" in issued ? issued.rejected : "issued";
};

describe("a client key", () => {
  it("is shown once with the call that exchanges it, and only its hash is kept", async () => {
    const browser = await signUp(desks.one);
    const made = await browser.post("/developers/client-key");
    const key = secretIn(made, "client");
    const page = await browser.get("/developers");

    expect(made.text).toContain("http://127.0.0.1/apechain/api/auth/login");
    expect(made.text).toContain(browser.email);
    expect(page.text).not.toContain(key);
    expect(page.text).toContain(`&#8230;${key.slice(-4)}`);
    const { rows } = await sql<{ text: string }>`
      select k::text as text from access.client_key k`.execute(desks.database.db);
    expect(rows.map(({ text }) => text).join()).not.toContain(key.slice(10, 53));
  });

  it("is the only one of its account: another takes its place at once, and tokens go on", async () => {
    const { browser, email, clientKey } = await client();
    const token = await tokenFor({ email, clientKey });
    const next = await clientKeyOf(browser);

    expect(await codeOf({ email, clientKey })).toBe("invalid_credentials");
    expect(await codeOf({ email, clientKey: next })).toBe("issued");
    expect(await desks.other.tokens.check(token)).not.toBeNull();
  });

  it("ends with all its tokens when it is revoked, on the next request of another process", async () => {
    const { browser, email, clientKey } = await client();
    const tokens = [await tokenFor({ email, clientKey }), await tokenFor({ email, clientKey })];
    const { location } = await browser.post("/developers/client-key/revoke");

    expect(location).toBe("/developers?done=client-key-revoked");
    expect(await codeOf({ email, clientKey })).toBe("invalid_credentials");
    for (const token of tokens) expect(await desks.other.tokens.check(token)).toBeNull();
    expect((await browser.get("/developers")).text).toContain("no client key yet");
  });

  it("leaves no token behind that is given out while it is revoked", async () => {
    for (let time = 0; time < 10; time += 1) {
      const { browser, email, clientKey } = await client();
      const [issued] = await Promise.all([
        desks.other.tokens.issue({ email, clientKey }, newAddress()),
        browser.post("/developers/client-key/revoke"),
      ]);
      const token = "token" in issued ? issued.token : makeKey("bearer");
      expect(await desks.one.tokens.check(token)).toBeNull();
    }
  });
});

describe("a bearer token", () => {
  it("stands for its account for thirty days exactly", async () => {
    const { email, clientKey } = await client();
    const issued = await desks.one.tokens.issue(
      { email: email.toUpperCase(), clientKey },
      newAddress(),
    );
    const token = "token" in issued ? issued.token : "";

    expect(issued).toEqual({
      token: expect.stringMatching(/^mk_token_[0-9A-Za-z]{49}$/),
      expiresAt: desks.later(30 * dayMs),
    });
    desks.clock = desks.later(30 * dayMs - 1);
    expect(await desks.other.tokens.check(token)).toEqual({
      id: expect.any(Number),
      accountId: expect.any(Number),
    });
    desks.clock = desks.later(30 * dayMs);
    expect(await desks.other.tokens.check(token)).toBeNull();
  });

  it("is listed, and revoked by its owner alone", async () => {
    const { browser, email, clientKey } = await client();
    const stranger = await signUp(desks.one);
    const token = await tokenFor({ email, clientKey });
    const { text } = await browser.get("/developers");
    const id = /tokens\/(\d+)\/revoke/.exec(text)?.[1];

    await stranger.post(`/developers/tokens/${id}/revoke`);
    const kept = await desks.one.tokens.check(token);
    await browser.post(`/developers/tokens/${id}/revoke`);

    expect(text).toContain(`&#8230;${token.slice(-4)}`);
    expect(text).not.toContain(token);
    expect(kept).not.toBeNull();
    expect(await desks.other.tokens.check(token)).toBeNull();
  });

  it.each([
    ["empty", ""],
    ["made up", makeKey("bearer")],
    ["a key of another kind", makeKey("permanent")],
    ["hostile", "' or 1=1 --\0"],
  ])("that is %s stands for nobody", async (_how, token) => {
    expect(await desks.one.tokens.check(token)).toBeNull();
  });

  it("is given out a hundred times a day to one account", async () => {
    const { email, clientKey } = await client();
    for (let time = 0; time < 100; time += 1) {
      expect(await codeOf({ email, clientKey })).toBe("issued");
    }
    expect(await codeOf({ email, clientKey })).toBe("rate_limited");
    desks.clock = desks.later(dayMs);
    expect(await codeOf({ email, clientKey })).toBe("issued");
  });
});

describe("who logs in with what is wrong", () => {
  it("hears the same whatever it is", async () => {
    const { email, clientKey } = await client();
    const { email: stranger } = await client();
    const logins = [
      { email, clientKey: makeKey("client") },
      { email, clientKey: "" },
      { email: newEmail(), clientKey },
      { email: stranger, clientKey },
      { email: "no address\0", clientKey },
    ];
    const answers = await Promise.all(
      logins.map((login) => desks.one.tokens.issue(login, newAddress())),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ rejected: "invalid_credentials" });
  });

  it("locks nobody out: the right key passes after any number of wrong ones, from any address", async () => {
    const { email, clientKey } = await client();
    const wrong = { email, clientKey: makeKey("client") };
    const address = newAddress();
    const answers = [];
    for (let time = 0; time < 40; time += 1) {
      answers.push(await codeOf(wrong, address, time % 2 ? desks.one : desks.other));
    }

    expect(answers.filter((code) => code === "invalid_credentials")).toHaveLength(30);
    expect(answers.slice(30)).toEqual(Array(10).fill("rate_limited"));
    expect(await codeOf({ email, clientKey })).toBe("issued");
    expect(await codeOf({ email, clientKey }, address)).toBe("issued");
  });

  it("may try thirty times in 15 minutes from an address, whatever the account", async () => {
    const address = newAddress();
    const wrong = () => ({ email: newEmail(), clientKey: makeKey("client") });
    for (let time = 0; time < 30; time += 1) {
      expect(await codeOf(wrong(), address)).toBe("invalid_credentials");
    }
    expect(await desks.one.tokens.issue(wrong(), address)).toMatchObject({
      rejected: "rate_limited",
      retryAfterSeconds: 900,
    });
    desks.clock = desks.later(15 * minuteMs - 1);
    expect(await codeOf(wrong(), address)).toBe("rate_limited");
    desks.clock = desks.later(15 * minuteMs);
    expect(await codeOf(wrong(), address)).toBe("invalid_credentials");
  });
});

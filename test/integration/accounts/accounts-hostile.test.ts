import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  type Desk,
  linkOf,
  newEmail,
  openBrowser,
  openDesk,
  password,
  secretIn,
  signIn,
  signUp,
} from "./accounts-fixture.ts";

let database: TestDatabase;
let desk: Desk;
const lines: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  desk = await openDesk({ databaseUrl: database.url, logger });
});
afterAll(async () => {
  await desk?.close();
  await database?.drop();
});

const forms = [
  "sign-in",
  "sign-up",
  "forgot",
  "confirm",
  "sign-out",
  "keys",
  "keys/1/rotate",
  "keys/1/revoke",
  "client-key",
  "client-key/revoke",
  "tokens/1/revoke",
  "account/password",
  "sessions/1/end",
  "sessions/end-others",
].map((path) => `/developers/${path}`);

describe("a form of another site", () => {
  it.each<[string, Record<string, string>]>([
    ["another origin", { origin: "https://evil.example.test", "sec-fetch-site": "cross-site" }],
    [
      "another origin, from a browser that says no more",
      { origin: "https://evil.example.test", "sec-fetch-site": "same-origin" },
    ],
    ["a site next to ours", { "sec-fetch-site": "same-site" }],
    ["an origin that is hidden", { origin: "null" }],
    ["an origin that is none", { origin: "http://[" }],
  ])("is refused everywhere: %s", async (_how, headers) => {
    const owner = await signUp(desk);
    for (const form of forms) {
      const { status, text } = await owner.post(form, { name: "a" }, headers);
      expect([form, status]).toEqual([form, 403]);
      expect(text).toContain("This form was refused");
    }
    expect((await owner.get("/developers")).text).toContain("no keys yet");
  });

  it("is refused where nothing says where it comes from", async () => {
    for (const form of forms) {
      const response = await fetch(desk.url + form, {
        method: "post",
        body: new URLSearchParams(),
      });
      expect([form, response.status]).toEqual([form, 403]);
    }
  });

  it("is refused without the token of the session, and with another session's", async () => {
    const [owner, stranger] = [await signUp(desk), await signUp(desk)];
    const foreign = /name="form" value="([^"]+)"/.exec(
      (await stranger.get("/developers")).text,
    )?.[1];
    for (const form of ["", "x", foreign ?? ""]) {
      const { status } = await owner.post("/developers/keys", { form, name: "a" });
      expect(status).toBe(403);
    }
    expect((await owner.post("/developers/keys", { name: "a" })).status).toBe(200);
  });

  it("is no form of ours behind a proxy either, whose host is not the configured one", async () => {
    const behind = await openDesk({
      databaseUrl: database.url,
      baseUrl: "https://api.example.test",
    });
    const browser = openBrowser(behind);
    const post = (origin: string) =>
      browser.post("/developers/sign-up", { email: newEmail() }, { origin });
    const statuses = [
      (await post("https://api.example.test")).status,
      (await post("https://api.example.test.evil.test")).status,
      (await post("http://api.example.test")).status,
      (await post(behind.url)).status,
      (await post(behind.url.replace("http:", "https:"))).status,
    ];
    await behind.close();

    expect(statuses).toEqual([200, 403, 403, 403, 200]);
  });
});

describe("a session's cookie", () => {
  it("is out of reach of scripts and of other sites, and bound to the host behind https", async () => {
    const secure = await openDesk({
      databaseUrl: database.url,
      baseUrl: "https://api.example.test",
    });
    const cookies = [];
    for (const one of [desk, secure]) {
      const { email } = await signUp(desk);
      cookies.push((await signIn(openBrowser(one), email)).headers.get("set-cookie"));
    }
    await secure.close();

    expect(cookies).toEqual([
      expect.stringMatching(
        /^session=mk_session_\w{49}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(
        /^__Host-session=mk_session_\w{49}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
  });

  it("is never one that somebody brought: signing in always makes another, and ends the old one", async () => {
    const { email } = await signUp(desk);
    const attacker = await signUp(desk);
    const victim = openBrowser(desk);
    victim.cookie = attacker.cookie;
    await signIn(victim, email);

    expect(victim.cookie).not.toBe(attacker.cookie);
    expect((await attacker.get("/developers")).status).toBe(303);
    expect((await victim.get("/developers/account")).text).toContain(email);
  });

  it.each(["session=x", "session=", "session=a; session=b", `session=${"a".repeat(9000)}`, "=;;;"])(
    "that is %.20s lets nobody in",
    async (cookie) => {
      const browser = openBrowser(desk);
      browser.cookie = cookie;
      expect((await browser.get("/developers")).location).toBe("/developers/sign-in");
    },
  );

  it("counts for nothing under /v1", async () => {
    const { cookie } = await signUp(desk);
    const response = await fetch(`${desk.url}/v1/orders/params?chainId=5`, {
      headers: { cookie: cookie ?? "" },
    });
    expect(response.headers.get("set-cookie")).toBeNull();
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

describe("a page", () => {
  it("is kept nowhere, framed nowhere, read by no other site, and runs and loads only what is ours", async () => {
    const owner = await signUp(desk);
    for (const path of ["", "/account", "/sign-up", "/confirm?link=x", "/nothing"]) {
      const { headers } = await owner.get(`/developers${path}`);
      expect(headers.get("cache-control")).toBe("no-store, no-transform");
      expect(headers.get("content-security-policy")?.split(";").toSorted()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "img-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
      ]);
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-encoding")).toBeNull();
    }
  });

  it("holds nothing that was written elsewhere but as text", async () => {
    const evil = `"'><script>alert(1)</script>`;
    const owner = await signUp(desk);
    const pages = [
      await owner.post("/developers/keys", { name: evil }),
      await owner.post("/developers/sign-up", { email: evil }),
      await owner.post("/developers/sign-in", { email: evil, password: evil }),
      await owner.get(`/developers?done=${encodeURIComponent(evil)}`),
    ];
    await sql`update access.session set agent = ${evil}, address = ${evil}`.execute(database.db);
    pages.push(await owner.get("/developers/account"), await owner.get("/developers"));

    for (const { text } of pages) {
      expect(text).not.toContain("<script>");
      expect(text).not.toContain(`"'>`);
    }
    expect(pages[4]?.text).toContain("&#60;script&#62;");
  });

  it("is asked for by who is not signed in, and leads to signing in", async () => {
    const browser = openBrowser(desk);
    for (const path of ["/developers", "/developers/account"]) {
      expect((await browser.get(path)).location).toBe("/developers/sign-in");
    }
    expect((await browser.post("/developers/keys", { name: "a" })).location).toBe(
      "/developers/sign-in",
    );
  });
});

describe("what is hostile", () => {
  const values = [
    "",
    "\0",
    "a\0b@example.test",
    "\ud800",
    "' or '1'='1",
    "%00%ff",
    "x".repeat(10_000),
    "<svg onload=alert(1)>",
    "a@b.test\r\nBcc: c@d.test",
    "\u202e\u0000",
    "9".repeat(400),
    "__proto__",
  ];

  it("never ends in a fault of ours, in whichever field", async () => {
    const owner = await signUp(desk);
    const names = ["email", "password", "link", "name", "current", "form"];
    for (const form of forms.filter((path) => !path.endsWith("sign-out"))) {
      for (const value of values) {
        const fields = Object.fromEntries(names.map((name) => [name, value]));
        const signedIn = { ...fields, form: undefined };
        const { form: _, ...withToken } = signedIn;
        for (const sent of [fields, withToken]) {
          const { status } = await owner.post(form, sent as Record<string, string>);
          expect([form, status, value.slice(0, 20)]).toEqual([
            form,
            expect.toSatisfy((one: number) => one < 500),
            value.slice(0, 20),
          ]);
        }
      }
    }
  });

  it("never ends in a fault of ours, whatever the body and the path are", async () => {
    const { cookie } = await signUp(desk);
    const bodies: [string, string][] = [
      ["application/json", '{"email":{"$gt":""}}'],
      ["application/x-www-form-urlencoded", "email[a]=1&email=2&email=3"],
      ["application/x-www-form-urlencoded", "%"],
      ["application/x-www-form-urlencoded; charset=x", "email=a"],
      ["application/x-www-form-urlencoded", `email=${"a".repeat(20_000)}`],
      ["application/x-www-form-urlencoded", "a=1&".repeat(60)],
      ["text/plain", "email=a"],
      ["multipart/form-data; boundary=x", "--x--"],
    ];
    for (const form of [
      ...forms,
      "/developers/keys/%E0%A4%A/revoke",
      "/developers/keys/-1/revoke",
    ]) {
      for (const [type, body] of bodies) {
        const response = await fetch(desk.url + form, {
          method: "post",
          body,
          redirect: "manual",
          headers: { "content-type": type, origin: desk.url, cookie: cookie ?? "" },
        });
        expect([form, type, response.status]).toEqual([
          form,
          type,
          expect.toSatisfy((one: number) => one < 500),
        ]);
      }
    }
    for (const path of [
      "?done[a]=b",
      "?done=__proto__",
      "/confirm?link[]=a",
      "/confirm?link=%00",
      "/%ff",
    ]) {
      const { status } = await fetch(`${desk.url}/developers${path}`, { redirect: "manual" });
      expect([path, status < 500]).toEqual([path, true]);
    }
  });

  it("is answered with a page when it cannot be parsed", async () => {
    const browser = openBrowser(desk);
    const large = await browser.post("/developers/sign-up", { email: "a".repeat(20_000) });
    const unknown = await browser.get("/developers/nothing");

    expect([large.status, unknown.status]).toEqual([413, 404]);
    for (const { text, headers } of [large, unknown]) {
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(text).toContain('role="alert"');
    }
  });
});

it("a log tells of requests and of no secret in them", async () => {
  const email = newEmail();
  const browser = openBrowser(desk);
  await browser.post("/developers/sign-up", { email });
  const link = linkOf(desk, email);
  await browser.get(`/developers/confirm?link=${link}`);
  await browser.post("/developers/confirm", { link, password });
  await browser.get("/developers");
  const key = secretIn(await browser.post("/developers/keys", { name: "a" }), "live");

  const told = lines.join();
  expect(told).toContain("/developers/confirm?link=mk_link_***");
  const secrets = [link, key, password, browser.cookie?.split("=")[1] ?? ""];
  expect(secrets.map((secret) => [secret !== "", told.includes(secret)])).toEqual(
    secrets.map(() => [true, false]),
  );
});

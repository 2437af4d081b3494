import type { RequestHandler } from "express";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeKey } from "#api/keys/key-text.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedRows } from "#test/support/http/api-rows.ts";
import { from, newAddress } from "#test/support/http/limited-api.ts";
import { base, makeAccount, openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const anything = `${base}/api/activity?limit=0`;

let database: TestDatabase;
let one: ApiClient;
let other: ApiClient;
let clock = start;

const open = (limits: { keyless: number; account: number }) =>
  serve(openNftDataApp(database.db, { limits, now: () => clock }), { base, path: "/openapi.json" });

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  const limits = { keyless: 30, account: 120 };
  [one, other] = await Promise.all([open(limits), open(limits)]);
});
afterAll(async () => {
  await Promise.all([one?.close(), other?.close()]);
  await database?.drop();
});

const Login = z.object({ data: z.object({ token: z.string(), expires_at: z.string() }) });
const Failure = z.looseObject({
  success: z.literal(false),
  error: z.string().min(1),
  code: z.string(),
  requestId: z.string(),
});

type TestRequest = {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
};

/** Straight at the server, for what the document does not tell of. */
async function ask({ path = anything, method = "GET", headers = {}, body }: TestRequest) {
  const response = await fetch(one.url + path, { method, headers, body: body ?? null });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

async function logIn(api = one) {
  const account = await makeAccount(database.db);
  const login = { email: account.email, client_key: account.clientKey };
  const answer = await api.post(`${base}/api/auth/login`, login, from(newAddress()));
  const { token, expires_at } = Login.parse(answer.body).data;
  return { ...account, token, expiresAt: expires_at, bearer: { authorization: `Bearer ${token}` } };
}

describe("POST /api/auth/login", () => {
  it("exchanges e-mail address and client key for a token of 30 days that every process takes", async () => {
    const { token, expiresAt, bearer } = await logIn();

    expect(token).toMatch(/^mk_token_/);
    expect((Date.parse(expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(30, 1);
    for (const api of [one, other]) {
      const { status, headers } = await api.get(`${base}/api/collections`, bearer);
      expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "120"]);
    }
  });

  it("says the same whichever of the two is wrong, and counts for the address", async () => {
    const { email, clientKey } = await logIn();
    const caller = from(newAddress());
    const attempts = [
      { email, client_key: makeKey("client") },
      { email: "nobody@example.test", client_key: clientKey },
      { email: "no address", client_key: "no key" },
    ];

    const answers = [];
    for (const attempt of attempts) {
      answers.push(await one.post(`${base}/api/auth/login`, attempt, caller));
    }
    const said = answers.map(({ status, body }) => [status, Failure.parse(body).error]);
    expect(new Set(said.map(String)).size).toBe(1);
    expect(said[0]?.[0]).toBe(401);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
      "29",
      "28",
      "27",
    ]);
    expect(answers[0]?.headers.get("www-authenticate")).toMatch(/^Bearer/);
  });

  it("locks no account out, whatever others try with its address", async () => {
    const { email, clientKey } = await logIn();
    for (let time = 0; time < 12; time += 1) {
      const attempt = { email, client_key: makeKey("client") };
      const answer = await one.post(`${base}/api/auth/login`, attempt, from(newAddress()));
      expect(answer.status).toBe(401);
    }
    const attempt = { email, client_key: clientKey };
    const answer = await one.post(`${base}/api/auth/login`, attempt, from(newAddress()));
    expect(answer.status).toBe(200);
  });

  it.each([
    "{",
    "[]",
    "null",
    '{"email":1}',
    '{"email":"a@b.c"}',
    '{"email":"a\\u0000","client_key":"b"}',
  ])("422 bad_structure for %s", async (body) => {
    const answer = await one.post(`${base}/api/auth/login`, body, from(newAddress()));
    expect([answer.status, Failure.parse(answer.body).code]).toEqual([422, "bad_structure"]);
  });
});

describe("a caller without a token that works", () => {
  it.each([
    ["no token", {}, "token_required"],
    ["another scheme", { authorization: "Basic bWU6bWU=" }, "token_required"],
    ["no token behind the scheme", { authorization: "Bearer" }, "token_required"],
    ["a token that was made up", { authorization: `Bearer ${makeKey("bearer")}` }, "invalid_token"],
    ["what is no token", { authorization: "bearer a.b.c" }, "invalid_token"],
    ["a key of /v1", { authorization: `Bearer ${makeKey("permanent")}` }, "invalid_token"],
  ])("is refused with %s, and counted by its address", async (_what, headers, code) => {
    const caller = from(newAddress());
    const { status, body, headers: told } = await one.get(anything, { ...caller, ...headers });

    expect([status, Failure.parse(body).code]).toEqual([401, code]);
    expect(told.get("www-authenticate")?.includes('error="invalid_token"')).toBe(
      code === "invalid_token",
    );
    expect(told.get("x-ratelimit-remaining")).toBe("29");
  });

  it("ends in 429", async () => {
    const caller = { ...from(newAddress()), authorization: `Bearer ${makeKey("bearer")}` };
    const statuses: number[] = [];
    for (let time = 0; time < 31; time += 1) {
      statuses.push((await (time % 2 ? one : other).get(anything, caller)).status);
    }
    expect(statuses).toEqual([...Array(30).fill(401), 429]);
  });

  it.each([
    ["has expired", sql`update access.bearer_token set expires_at = now() where account_id = `],
    ["was revoked", sql`update access.bearer_token set revoked_at = now() where account_id = `],
    ["is of a suspended account", sql`update access.account set suspended_at = now() where id = `],
  ])("is refused from the moment that its token %s", async (_what, end) => {
    const { bearer, email } = await logIn();
    expect((await one.get(`${base}/api/collections`, bearer)).status).toBe(200);

    await sql`${end} (select id from access.account where email = ${email})`.execute(database.db);
    const { status, body } = await other.get(`${base}/api/collections`, bearer);
    expect([status, Failure.parse(body).code]).toEqual([401, "invalid_token"]);
  });
});

describe("an account", () => {
  it("has 120 requests a minute over all its tokens, addresses and processes, and exactly that", async () => {
    clock = new Date(start.getTime() + 3_600_000);
    const { bearer, email, clientKey } = await logIn();
    const again = await other.post(
      `${base}/api/auth/login`,
      { email, client_key: clientKey },
      from(newAddress()),
    );
    const second = { authorization: `Bearer ${Login.parse(again.body).data.token}` };

    const answers = await Promise.all(
      Array.from({ length: 130 }, (_, time) =>
        (time % 2 ? one : other).get(anything, {
          ...from(newAddress()),
          ...(time % 3 ? bearer : second),
        }),
      ),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(422), count(429)]).toEqual([120, 10]);

    clock = new Date(clock.getTime() + 60_000);
    expect((await one.get(anything, bearer)).status).toBe(422);
  });

  it("pays nothing for what has not changed", async () => {
    const { bearer } = await logIn();
    const path = `${base}/api/collections?limit=1`;
    const { headers } = await one.get(path, bearer);
    const asked = { ...bearer, "if-none-match": headers.get("etag") ?? "" };
    const answers = [await one.get(path, asked), await one.get(path, asked)];

    expect(answers.map(({ status }) => status)).toEqual([304, 304]);
    expect(answers[1]?.headers.get("x-ratelimit-remaining")).toBe("119");
  });

  it("has no limit where it is 0", async () => {
    const api = await open({ keyless: 30, account: 0 });
    const { bearer } = await logIn();
    const { status, headers } = await api.get(anything, bearer);
    await api.close();

    expect([status, headers.get("x-ratelimit-limit")]).toEqual([422, null]);
  });
});

describe("the stream of activity", () => {
  it("is documented where it is served, and needs a token", async () => {
    const stream: RequestHandler = (_request, response) => {
      response.json({ success: true });
    };
    const app = openNftDataApp(database.db, { stream });
    const api = await serve(app, { base, path: "/openapi.json" });
    const { bearer } = await logIn();
    const path = `${base}/api/activity/stream`;
    const statuses = [
      (await fetch(api.url + path)).status,
      (await fetch(api.url + path, { headers: bearer })).status,
      (await fetch(api.url + path, { method: "POST", headers: bearer })).status,
    ];
    await api.close();

    expect(statuses).toEqual([401, 200, 405]);
    expect(Object.keys(api.document.paths)).toContain("/api/activity/stream");
    expect(Object.keys(one.document.paths)).not.toContain("/api/activity/stream");
  });
});

describe("what is refused", () => {
  it.each([
    [404, "not_found", { path: `${base}/api/nothing` }],
    [404, "not_found", { path: `${base}/v1/collections` }],
    [405, "method_not_allowed", { path: `${base}/api/collections`, method: "DELETE" }],
    [405, "method_not_allowed", { path: `${base}/api/auth/login` }],
    [405, "method_not_allowed", { path: `${base}/api/batch/wallets` }],
    [
      413,
      "payload_too_large",
      { path: `${base}/api/batch/wallets`, method: "POST", body: " ".repeat(20_000) },
    ],
    [422, "bad_structure", { path: `${base}/api/batch/wallets`, method: "POST", body: "{" }],
    [422, "invalid_parameters", { path: `${base}/api/collections/0x12` }],
    [422, "invalid_parameters", { path: `${base}/api/collections/%E0%A4%A` }],
    [422, "invalid_cursor", { path: `${base}/api/activity?cursor=abc` }],
  ] as const)("with %i %s has the envelope of errors", async (status, code, asked) => {
    const { bearer } = await logIn();
    const answer = await ask({ ...asked, headers: bearer });
    const failure = Failure.parse(JSON.parse(answer.text));

    expect([answer.status, failure.code]).toEqual([status, code]);
    expect(answer.headers.get("x-request-id")).toBe(failure.requestId);
  });

  it("is not what a browser asks beforehand", async () => {
    const headers = {
      origin: "https://a.example",
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    };
    const answer = await ask({ path: `${base}/api/collections`, method: "OPTIONS", headers });

    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase()).toContain(
      "authorization",
    );
  });
});

describe("the document and its page", () => {
  it("are there for everybody, and name what is needed", async () => {
    const caller = from(newAddress());
    const page = await ask({ path: `${base}/docs`, headers: caller });
    const login = await ask({ path: `${base}/docs/operations/login`, headers: caller });
    const { document } = one;

    expect([page.status, login.status]).toEqual([200, 200]);
    expect(page.text).toContain(`${base}/docs/operations/login`);
    expect(login.text).toContain(`${base}/api/auth/login`);
    // They count with the pages, not with requests to the API.
    const [first, second] = [page, login].map(({ headers }) =>
      Number(headers.get("x-ratelimit-remaining")),
    );
    expect(second).toBe((first ?? 0) - 1);
    expect(document).toMatchObject({
      servers: [{ url: `https://api.example.test${base}` }],
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
      paths: { "/api/auth/login": { post: { security: [] } } },
    });
  });
});

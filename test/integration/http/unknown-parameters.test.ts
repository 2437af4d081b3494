import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedRows } from "#test/support/http/api-rows.ts";
import { from, newAddress } from "#test/support/http/limited-api.ts";
import { base, makeAccount, openNftDataApp } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";

const Parameter = z.looseObject({ in: z.string(), name: z.string() });
const Refusal = z.looseObject({ message: z.string().optional(), details: z.unknown().optional() });
const Operation = z.looseObject({
  parameters: z.array(Parameter).optional(),
  responses: z.record(z.string(), z.unknown()),
});

let database: TestDatabase;
let api: ApiClient;
let accountApi: ApiClient;
let bearer: Record<string, string> = {};

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  const app = openNftDataApp(database.db, { stream: (_request, response) => response.end() });
  [api, accountApi] = [await serve(app), await serve(app, { base, path: "/openapi.json" })];
  const { email, clientKey } = await makeAccount(database.db);
  const login = { email, client_key: clientKey };
  const { body } = await accountApi.post(`${base}/api/auth/login`, login, from(newAddress()));
  const { data } = z.object({ data: z.object({ token: z.string() }) }).parse(body);
  bearer = { authorization: `Bearer ${data.token}` };
});
afterAll(async () => {
  await accountApi?.close();
  await database?.drop();
});

function operationsOf({ document }: ApiClient) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, `mkt-0x${"ab".repeat(32)}`),
      operation: Operation.parse(operation),
    })),
  );
}

/** Straight at the server: a parameter that is in no document. */
async function ask(path: string, method = "GET", headers: Record<string, string> = {}) {
  const response = await fetch(api.url + path, { method, headers });
  return { status: response.status, body: Refusal.parse(await response.json()) };
}

const refusal = (field: string, nearest?: string) => ({
  status: 422,
  body: {
    success: false,
    code: "unknown_parameter",
    error: expect.stringContaining(nearest ?? field),
    details: [{ field, ...(nearest !== undefined && { expected: nearest }) }],
  },
});

describe("a parameter that there is not", () => {
  it("is refused by every endpoint, which its document says", async () => {
    const operations = operationsOf(api);
    expect(operations.length).toBeGreaterThan(40);
    for (const { method, path, operation } of operations) {
      const answer = await ask(`${path}?utm_source=x`, method);
      expect([method, path, answer]).toMatchObject([method, path, refusal("utm_source")]);
      expect(JSON.stringify(operation.responses["422"])).toContain("unknown_parameter");
    }
  });

  it("is refused with the name that is meant, whatever is beside it", async () => {
    for (const { method, path } of operationsOf(api)) {
      for (const typed of ["chainID", "chain_id", "chainid", "ChainId"]) {
        const answer = await ask(`${path}?chainId=33139&${typed}=1`, method);
        expect([path, answer]).toMatchObject([path, refusal(typed, "chainId")]);
      }
    }
  });

  it("is any name of a known one with one letter more, less or in another case", async () => {
    for (const { method, path, operation } of operationsOf(api)) {
      const names = (operation.parameters ?? []).filter((one) => one.in === "query");
      for (const { name } of names) {
        for (const typed of [`${name}z`, name.toUpperCase(), ` ${name}`]) {
          const answer = await ask(`${path}?${encodeURIComponent(typed)}=1`, method);
          expect([path, answer]).toMatchObject([path, { status: 422 }]);
          expect(answer.body).toMatchObject({ code: "unknown_parameter" });
          expect(answer.body.message).toContain(name);
        }
      }
    }
  });

  it.each(["trait[Hat]", "traits [Hat]", "Traits[Hat]", "traits["])("is %s", async (typed) => {
    const answer = await ask(`/v1/sales?${encodeURIComponent(typed)}=Beanie`);
    expect(answer).toMatchObject({ status: 422, body: { code: "unknown_parameter" } });
    expect(answer.body.message).toContain("traits");
  });

  it.each(["__proto__", "constructor", "hasOwnProperty", "__proto__[x]", "toString"])(
    "is %s, which every object has",
    async (name) => {
      const answer = await ask(`/v1/sales?${encodeURIComponent(name)}=1`);
      expect(answer).toMatchObject({ status: 422, body: { code: "unknown_parameter" } });
    },
  );

  it("is refused with at most twenty of them, cut", async () => {
    const names = Array.from({ length: 60 }, (_, index) => `${index}${"x".repeat(200)}=1`);
    const { body } = await ask(`/v1/sales?${names.join("&")}`);
    const details = z.array(z.object({ field: z.string().max(100) })).parse(body.details);
    expect(details).toHaveLength(20);
  });

  it("is refused where a stream is asked for", async () => {
    const headers = { accept: "text/event-stream", "x-api-key": "" };
    expect(await ask("/v1/events?chainID=33139", "GET", headers)).toMatchObject(
      refusal("chainID", "chainId"),
    );
  });

  it("is none of those that requests have beside their own", async () => {
    expect((await ask("/v1/sales?min_position=0&chainId=1")).status).toBe(200);
    expect((await ask("/v1/sales?&&")).status).toBe(200);
  });
});

describe("a parameter that the account API does not have", () => {
  it("is refused by every endpoint, in its own envelope", async () => {
    const operations = operationsOf(accountApi);
    expect(operations.length).toBeGreaterThan(10);
    for (const { method, path, operation } of operations) {
      const answer = await ask(`${base}${path}?listde=true`, method, bearer);
      expect([path, answer]).toMatchObject([path, refusal("listde")]);
      expect(JSON.stringify(operation.responses["422"])).toContain("unknown_parameter");
    }
  });

  it("is refused with the name that is meant", async () => {
    const path = `${base}/api/activity`;
    expect(await ask(`${path}?Wallet=0x1`, "GET", bearer)).toMatchObject(
      refusal("Wallet", "wallet"),
    );
    expect(await ask(`${path}/stream?colection=0x1`, "GET", bearer)).toMatchObject(
      refusal("colection", "collection"),
    );
  });
});

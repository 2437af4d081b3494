import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedRows } from "#test/support/http/api-rows.ts";
import {
  from,
  type LimitedApi,
  newAddress,
  openLimitedApi,
} from "#test/support/http/limited-api.ts";

const id = `mkt-0x${"ab".repeat(32)}`;

let database: TestDatabase;
let api: LimitedApi;
let operations: { method: string; path: string }[] = [];

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  api = await openLimitedApi({ url: database.url, limits: { keyless: 0 } });
  operations = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method, path: path.replaceAll(/\{\w+\}/g, id) })),
  );
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

describe("chainId", () => {
  it("is checked by every endpoint, in its query and in its body", async () => {
    const others = operations.filter(({ path }) => !path.includes("openapi"));
    expect(others.length).toBeGreaterThan(25);
    for (const { method, path } of others) {
      const { status, body } = await ask(method, `${path}?chainId=5`);
      expect([path, status, body]).toMatchObject([path, 422, { code: "unsupported_chain" }]);
    }
    // What a wallet signed names its chain itself.
    const withBody = others.filter(
      ({ path }) => path !== "/v1/auth/siwe" && api.document.paths[path]?.post?.requestBody,
    );
    for (const { path } of withBody) {
      const { status, body } = await api.post(path, { chainId: 5 });
      expect([path, status, body]).toMatchObject([path, 422, { code: "unsupported_chain" }]);
    }
  });

  it("of an address and of its body is one, or the request is refused", async () => {
    const sync = `/v1/orders/asks/mkt-0x${"1".repeat(64)}/sync`;
    for (const body of [{ chainId: 1 }, {}])
      expect(await api.post(`${sync}?chainId=33139`, body)).toMatchObject({
        status: 422,
        body: { code: "unsupported_chain", message: expect.stringContaining("the body 1") },
      });
    expect((await api.post(`${sync}?chainId=33139`, { chainId: 33139 })).status).toBe(404);
  });
});

const ask = (method: string, path: string) =>
  method === "get" ? api.get(path) : api.post(path, undefined);

describe("the query", () => {
  const sales = "/v1/sales?chainId=33139&per_page=1";
  const list = "/v1/listings?chainId=33139";

  it.each([
    "traits[1]=x",
    "traits%5B0%5D=x",
    "traits[Eyes%20[left]]=x",
    "traits[__proto__]=x",
    "traits[1]=x&traits[Fur]=y",
  ])("has an object's field of any name: %s", async (traits) => {
    const collections = await api.get("/v1/collections?chainId=33139&per_page=1");
    const [{ slug }] = (collections.body as { data: [{ slug: string }] }).data;
    const { status, body } = await api.get(`${sales}&collection=${slug}&${traits}`);
    expect([status, body]).toMatchObject([200, { success: true }]);
  });

  it("has traits of any name, each of which counts", async () => {
    const names = [...Object.getOwnPropertyNames(Object.prototype), "__proto__", "length", "0"];
    const { body } = await api.get("/v1/collections?chainId=33139&per_page=1");
    const [{ slug }] = (body as { data: [{ slug: string }] }).data;
    for (const path of ["/v1/sales", `/v1/collections/${slug}/tokens`]) {
      for (const name of names) {
        const { body } = await api.get(`${path}?chainId=33139&traits[${name}]=zzz`);
        expect([path, name, body]).toMatchObject([path, name, { meta: { total: 0 } }]);
      }
      const six = [...names.slice(0, 5), "__proto__"].map((name) => `traits[${name}]=a`).join("&");
      expect(await api.get(`${path}?chainId=33139&${six}`)).toMatchObject({
        status: 422,
        body: { code: "invalid_parameters", details: [{ field: "traits" }] },
      });
    }
  });

  it.each(["traits=x", "traits=x&traits[a]=b", "sort=price_asc&sort=price_desc"])(
    "is refused where a field is not what it should be: %s",
    async (query) => {
      const { status, body } = await api.get(`/v1/sales?chainId=33139&collection=a&${query}`);
      if (query.startsWith("traits"))
        expect([status, body]).toMatchObject([422, { code: "invalid_parameters" }]);
    },
  );

  it.each(["1e-7", ".5", "1.", "0", "2E3", "1e+2", "0.0000000000000000001", "1e-300"])(
    "takes %s for a number",
    async (number) => {
      const query = new URLSearchParams({ min_price: number, max_price: number });
      expect((await api.get(`${list}&${query}`)).status).toBe(200);
    },
  );

  it.each(["-1", "1e", "e1", ".", "", "0x1", "Infinity", "NaN", "1e999", "1,5", " 1"])(
    "takes '%s' for none",
    async (text) => {
      const query = new URLSearchParams({ min_price: text });
      const { status, body } = await api.get(`${list}&${query}`);
      expect([status, body]).toMatchObject([422, { code: "invalid_parameters" }]);
    },
  );
});

describe("every path", () => {
  it("tells its methods to OPTIONS, a browser's preflight or not", async () => {
    const preflight = { origin: "https://a.example", "access-control-request-method": "POST" };
    const paths = [...new Set(operations.map(({ path }) => path)), "/docs", "/healthz"];
    for (const path of paths)
      for (const headers of [{}, preflight]) {
        const answer = await fetch(api.url + path, { method: "OPTIONS", headers });
        const methods = operations.filter((one) => one.path === path).map(({ method }) => method);
        const allow = answer.headers.get("allow")?.toLowerCase().split(", ");
        expect([path, answer.status]).toEqual([path, 204]);
        expect(allow).toEqual(expect.arrayContaining([...methods, "options"]));
        expect(answer.headers.get("access-control-allow-methods")).toContain("POST");
      }
  });
});

it.each([
  "/docs",
  "/docs/errors",
  "/docs/guides/first-call",
  "/docs/operations/listSales",
  "/docs/assets/reference.css",
  "/docs/assets/reference.js",
  "/v1/openapi.json",
  "/v1/status",
  "/",
])("%s has an ETag that spares its body", async (path) => {
  const headers = { "accept-encoding": "gzip" };
  const first = await fetch(api.url + path, { headers });
  const text = await first.text();
  const etag = first.headers.get("etag");
  expect([first.status, etag]).toEqual([200, expect.stringMatching(/^W\/".+"$/)]);
  expect(await (await fetch(api.url + path, { headers })).text()).toBe(text);
  const again = await fetch(api.url + path, { headers: { "if-none-match": `${etag}` } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

it.each([
  ["malformed", "x", "invalid_key"],
  ["unknown", `mk_live_${"A".repeat(49)}`, "invalid_key"],
])("a key that is %s is refused with the limit that it counts for", async (_how, key, code) => {
  const other = await openLimitedApi({ url: database.url });
  const { status, body, headers } = await other.get("/v1/status", from(newAddress(), key));
  await other.close();
  expect([status, body]).toMatchObject([401, { code }]);
  expect(headers.get("x-ratelimit-limit")).toBe("30");
  expect(headers.get("x-ratelimit-remaining")).toBe("29");
});

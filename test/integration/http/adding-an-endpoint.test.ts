import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { routes } from "#api/routes.ts";
import { route } from "#api/v1/context.ts";
import { reject } from "#projections/domain/rejection.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { countOrders } from "#test/support/http/example-endpoint.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { makers, openedAt, pauper, seedOrders } from "#test/support/orders/seeded-orders.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const root = resolve(import.meta.dirname, "../../..");
const guide = readFileSync(join(root, "docs/adding-an-endpoint.md"), "utf8");
const guideFile = "api/v1/orders/count.ts";
const exampleFile = "test/support/http/example-endpoint.ts";

let database: TestDatabase;
let api: ApiClient;

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedOrders(database.db);
  const context = {
    db: database.db,
    siteUrl: "https://site.example.test",
    chains: [1, 33139] as const,
    readStatus: () => Promise.reject(new Error("the status is not used in this test")),
    market: openTestMarket(database.db),
    now: () => new Date(Number(openedAt) * 1000),
  };
  const app = createApp({
    context,
    // The line that the guide adds to `api/routes.ts`.
    routes: [...routes, countOrders],
    baseUrl: "https://api.example.test",
    logger: pino({ level: "silent" }),
  });
  api = await serve(app);
});

afterAll(async () => {
  await api?.close();
  await database?.drop();
});

const count = (maker: string, more = "") => api.get(`/v1/orders/count?maker=${maker}${more}`);

describe("an endpoint that is added as the guide says", () => {
  it("is served", async () => {
    const { status, body } = await count(makers.of(0));
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ success: true, data: { open: expect.any(Number) } });
  });

  it("validates its parameters", async () => {
    expect(await count("0x1")).toMatchObject({
      status: 422,
      body: { code: "invalid_parameters", details: [{ field: "maker" }] },
    });
    expect(await count(pauper, "&chainId=2")).toMatchObject({
      status: 422,
      body: { code: "unsupported_chain" },
    });
  });

  it("rejects with its own code", async () => {
    expect(await count(`0x${"ab".repeat(20)}`)).toMatchObject({
      status: 404,
      body: { success: false, code: "no_open_orders" },
    });
  });

  it("is in the OpenAPI document, with its parameters, schema and statuses", () => {
    const operation = api.document.paths["/v1/orders/count"]?.get;
    expect(operation?.parameters?.map(({ name }) => name)).toEqual([
      "chainId",
      "maker",
      "X-Min-Position",
    ]);
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "404", "422"]),
    );
    expect(api.document.components).toMatchObject({
      schemas: { OrderCount: { required: ["open"] } },
    });
  });

  it("cannot reject with a code that it does not declare", () => {
    const { path, operationId, tag, summary, data } = countOrders;
    const refuses = { no_open_orders: 404 };
    const shape = { method: "get", path, operationId, tag, summary, data, refuses };
    route({ ...shape, method: "get" as const }, async () => reject("no_open_orders", "none"));
    // @ts-expect-error: `order_lost` is not in `refuses`
    route({ ...shape, method: "get" as const }, async () => reject("order_lost", "lost"));
  });
});

describe("the guide", () => {
  it("shows the endpoint of this test", () => {
    const [, shown = ""] = /```ts\n(.*?)```/s.exec(guide) ?? [];
    const example = readFileSync(join(root, exampleFile), "utf8");
    expect(linesOf(shown, guideFile)).toEqual(linesOf(example, exampleFile));
  });

  it("names files that exist, but for the new one", () => {
    const named = [...guide.matchAll(/`((?:api|docs|projections|test)\/[^`<]*)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([guideFile]);
  });

  it("touches five files for an endpoint", () => {
    const [, files = ""] = /## Files\n(.*?)```/s.exec(guide) ?? [];
    expect(files.match(/^\d\. /gm)).toHaveLength(5);
  });
});

/** The lines of a module, its imports relative to the project's root and in a fixed order. */
function linesOf(module: string, file: string): string[] {
  const lines = module
    .trimEnd()
    .split("\n")
    .map((line) =>
      line.replace(/from "(#|\.[^"]*)/, (_, path: string) => {
        return `from "${path === "#" ? "" : relative(root, resolve(root, file, "..", path))}`;
      }),
    );
  const end = lines.indexOf("");
  return [...lines.slice(0, end).sort(), ...lines.slice(end)];
}

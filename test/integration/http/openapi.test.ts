import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readExamples } from "#api/reference/examples.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type LimitedApi, openLimitedApi } from "#test/support/http/limited-api.ts";

const Reference = z.object({ $ref: z.string() });
const Codes = z.looseObject({ enum: z.array(z.string()) });
const Content = z.looseObject({
  schema: z
    .looseObject({ properties: z.looseObject({ code: Codes.optional() }).optional() })
    .optional(),
  example: z.unknown().optional(),
});
const Response = z.looseObject({
  description: z.string().optional(),
  content: z.record(z.string(), Content).optional(),
});
const Operation = z.looseObject({
  summary: z.string(),
  description: z.string(),
  parameters: z
    .array(
      z.looseObject({
        in: z.string(),
        name: z.string(),
        style: z.string().optional(),
        schema: z.looseObject({ type: z.unknown(), format: z.string().optional() }).optional(),
        example: z.unknown().optional(),
      }),
    )
    .optional(),
  requestBody: z
    .looseObject({
      required: z.boolean(),
      content: z.object({
        "application/json": z.object({
          schema: z.looseObject({}),
          example: z.unknown().optional(),
        }),
      }),
    })
    .optional(),
  responses: z.record(z.string(), Response),
});

let database: TestDatabase;
let api: LimitedApi;
let operations: { name: string; method: string; operation: z.output<typeof Operation> }[] = [];

beforeAll(async () => {
  database = await createDatabase();
  api = await openLimitedApi({ url: database.url, limits: { keyless: 0 } });
  operations = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method} ${path}`,
      method,
      operation: Operation.parse(operation),
    })),
  );
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

/** Descriptions of the refusals that only this operation has, with their codes. */
const refusalsOf = ({ responses }: z.output<typeof Operation>) =>
  Object.values(responses).flatMap(({ description = "", content = {} }): [string, string[]][] => {
    const codes = content["application/json"]?.schema?.properties?.code?.enum;
    return codes === undefined ? [] : [[description, codes]];
  });

/** What readers of the document would miss. */
function missingOf(name: string, operation: z.output<typeof Operation>): string[] {
  const { summary, description, parameters = [], requestBody: body } = operation;
  const paths = parameters.filter((one) => one.in === "path" && one.example === undefined);
  // Long answers are in the reference alone.
  const isAnswered = readExamples().v1[name]?.answer !== undefined;
  return [
    ...(summary.length > 5 ? [] : ["summary"]),
    ...(description.length > 5 ? [] : ["description"]),
    ...paths.map(({ name }) => name),
    ...(body !== undefined && body.content["application/json"].example === undefined
      ? ["body"]
      : []),
    ...(isAnswered ? [] : ["answer"]),
    ...refusalsOf(operation).flatMap(([description, codes]) =>
      codes.filter((code) => !description.includes(`\`${code}\``)),
    ),
  ];
}

const Schema = z.looseObject({
  type: z.unknown().optional(),
  anyOf: z.array(z.looseObject({ type: z.unknown().optional() })).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});
const Parts = z.object({
  parameters: z.array(z.unknown()).optional(),
  responses: z.record(z.string(), z.unknown()),
});
type Placed = { place: string; schema: z.output<typeof Schema> };

/** Every object of the document that may be a schema, and where it stands. */
function schemasIn(node: unknown, place: string): Placed[] {
  if (typeof node !== "object" || node === null) return [];
  const schema = Schema.safeParse(node).data;
  const inner = Object.entries(node).flatMap(([name, value]) =>
    name === "example" || name === "examples" ? [] : schemasIn(value, `${place}/${name}`),
  );
  return schema === undefined ? inner : [{ place, schema }, ...inner];
}

const optionalBodies = [
  "post /v1/listings/{askId}/buy-data",
  "post /v1/orders/asks/{askId}/sync",
  "post /v1/orders/bids/{bidId}/sync",
];

describe("the OpenAPI document", () => {
  it("says of every body whether it is required, and that it takes no other fields", () => {
    const bodies = operations.filter(({ operation }) => operation.requestBody !== undefined);
    const optional = bodies.filter(({ operation }) => !operation.requestBody?.required);
    expect(optional.map(({ name }) => name).toSorted()).toEqual(optionalBodies);
    for (const { name, operation } of bodies) {
      const schema = operation.requestBody?.content["application/json"].schema;
      expect([name, schema?.additionalProperties]).toEqual([name, false]);
    }
  });

  it("names the style of parameters that are objects", () => {
    const objects = operations.flatMap(({ operation }) =>
      (operation.parameters ?? []).filter(({ schema }) => schema?.type === "object"),
    );
    expect(objects.length).toBeGreaterThan(0);
    for (const one of objects) expect([one.name, one.style]).toEqual([one.name, "deepObject"]);
  });

  it("describes what every operation may answer before it is asked", () => {
    for (const { name, method, operation } of operations) {
      const { responses } = operation;
      expect([name, Reference.safeParse(responses["405"]).success]).toEqual([name, true]);
      expect([name, Reference.safeParse(responses.default).success]).toEqual([name, true]);
      expect([name, responses["304"] !== undefined]).toEqual([name, method === "get"]);
    }
    expect(Object.keys((api.document.components as { responses: object }).responses)).toEqual(
      expect.arrayContaining(["NotModified", "MethodNotAllowed", "Unreadable"]),
    );
  });

  it("has of every operation a summary, a request, an answer of the local market, and its error codes", () => {
    // Media, and the document itself.
    const hasNoJson = /\/(?:image|banner|animation|metadata|holders\.csv)$|openapi\.json$/;
    for (const { name, operation } of operations) {
      const missing = missingOf(name, operation);
      expect([name, missing]).toEqual([name, hasNoJson.test(name) ? ["answer"] : []]);
    }
  });

  it("says of a parameter what it is where the parameter stands, and of a time its format alone", () => {
    const said = operations.flatMap(({ name, operation }) =>
      (operation.parameters ?? []).map(
        (one) => [name, one.name, one.schema ?? { type: undefined }] as const,
      ),
    );
    expect(said.filter(([, , schema]) => "description" in schema)).toEqual([]);
    const times = said.filter(([, , schema]) => schema.format === "date-time");
    expect(times.length).toBeGreaterThan(2);
    expect(times.filter(([, , schema]) => "pattern" in schema)).toEqual([]);
  });

  it("lists the tags of its operations", () => {
    const listed = z.array(z.object({ name: z.string() })).parse(api.document.tags);
    const used = operations.flatMap(({ operation }) => z.array(z.string()).parse(operation.tags));
    expect(listed.map(({ name }) => name)).toEqual([...new Set(used)]);
  });

  it("has no finding of a linter", async () => {
    const source = await (await fetch(`${api.url}/v1/openapi.json`)).text();
    const config = await createConfig({ extends: ["recommended"] });
    const findings = await lintFromString({ source, config });
    expect(findings.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it("is at most 350 kB long, without long patterns", async () => {
    const text = await (await fetch(`${api.url}/v1/openapi.json`)).text();
    expect(text.length).toBeLessThan(350_000);
    const patterns = [...text.matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, one = ""]) => one,
    );
    expect(patterns.length).toBeGreaterThan(100);
    expect(patterns.filter((one) => one.length > 150)).toEqual([]);
  });

  it("has once what several operations have", async () => {
    const text = await (await fetch(`${api.url}/v1/openapi.json`)).text();
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), Parts)) })
      .parse(JSON.parse(text));
    const parts = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ parameters = [], responses }) => [
        ...parameters.map((one) => JSON.stringify(one)),
        ...Object.entries(responses)
          .filter(([status]) => status >= "4")
          .map(([, one]) => JSON.stringify(one)),
      ])
      .filter((one) => !one.startsWith('{"$ref"'));
    expect(new Set(parts).size).toBe(parts.length);
  });

  it("has no schema that generators stumble over", () => {
    const schemas = schemasIn(api.document, "");
    const nullable = schemas.filter(({ schema: { anyOf = [] } }) =>
      anyOf.some(({ type }) => type === "null"),
    );
    expect(nullable.length).toBeGreaterThan(50);
    // A type beside the alternatives forbids the null that is one of them.
    expect(nullable.filter(({ schema }) => schema.type !== undefined)).toEqual([]);
    const doubled = schemas.filter(({ schema: { properties = {} } }) => {
      const names = Object.keys(properties).map((name) => name.replaceAll("_", "").toLowerCase());
      return new Set(names).size < names.length;
    });
    expect(doubled.map(({ place }) => place)).toEqual([]);
  });

  it("gives every operation a name of its own", () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(?:[A-Z][a-z]*)*$/);
  });
});

describe("/llms.txt", () => {
  it("names every operation with its parameters, and links to what opens", async () => {
    const response = await fetch(`${api.url}/llms.txt`);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = await response.text();
    for (const { name, operation } of operations) {
      const [method = "", path = ""] = name.split(" ");
      const start = `- \`${operation.operationId}\`: ${method.toUpperCase()} ${path} — ${operation.description}`;
      const line = text.split("\n").find((one) => one.startsWith(start)) ?? "";
      expect([name, line]).toEqual([name, expect.stringContaining(start)]);
      const query = (operation.parameters ?? []).filter((one) => one.in === "query");
      const named = / Query: ([^.]*)\./.exec(line.slice(start.length))?.[1]?.split(", ") ?? [];
      expect([name, named.map((one) => one.replace("*", ""))]).toEqual([
        name,
        query.map((one) => one.name),
      ]);
    }
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => new URL(link));
    expect(links).toHaveLength(5);
    for (const { pathname } of links)
      expect((await fetch(`${api.url}${pathname}`)).status).toBe(200);
    // Error codes were two thirds of it.
    expect(text).not.toContain("Codes:");
    expect(text.length).toBeLessThan(20_000);
  });
});

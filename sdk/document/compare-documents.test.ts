import { describe, expect, it } from "vitest";
import { compareDocuments } from "./compare-documents.ts";
import { readReleased } from "./documents.ts";
import type { Document } from "./schema.ts";

const released: Document = {
  paths: {
    "/v1/things": {
      get: {
        operationId: "listThings",
        parameters: [
          { in: "query", name: "kind", schema: { type: "string", enum: ["a", "b"] } },
          { in: "query", name: "per_page", schema: { type: "integer", minimum: 1, maximum: 100 } },
        ],
        responses: {
          "200": {
            content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
          },
          "404": { content: { "application/json": { schema: { enum: ["not_found", "gone"] } } } },
        },
      },
      post: {
        operationId: "makeThing",
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: { name: { type: "string" }, note: { type: ["string", "null"] } },
                required: ["name"],
                additionalProperties: false,
              },
            },
          },
        },
        responses: { "201": { content: { "application/json": { schema: { type: "object" } } } } },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        type: "object",
        properties: {
          id: { type: "string" },
          price: { anyOf: [{ type: "number" }, { type: "null" }] },
          kind: { type: "string", enum: ["a", "b"] },
          parts: { type: "array", items: { $ref: "#/components/schemas/Thing" } },
        },
        required: ["id", "price"],
      },
    },
  },
};

type Change = readonly [what: string, change: (text: string) => string, found: string | null];
const replace = (from: string, to: string) => (text: string) => {
  if (!text.includes(from)) throw new Error(`${from} is not in the document`);
  return text.replace(from, to);
};

const changes: readonly Change[] = [
  ["nothing", (text) => text, null],
  ["a path is removed", replace("/v1/things", "/v1/other"), "get /v1/things: is gone"],
  ["a method is removed", replace('"post"', '"put"'), "post /v1/things: is gone"],
  ["an operation is renamed", replace("listThings", "things"), "was called listThings"],
  ["a parameter is removed", replace('"name":"kind"', '"name":"sort"'), "?kind: is gone"],
  [
    "a parameter becomes required",
    replace('"name":"kind"', '"name":"kind","required":true'),
    "?kind: is now required",
  ],
  [
    "a required parameter is added",
    replace('"parameters":[', '"parameters":[{"in":"query","name":"key","required":true},'),
    "?key: is now required",
  ],
  [
    "an optional parameter is added",
    replace('"parameters":[', '"parameters":[{"in":"query","name":"key"},'),
    null,
  ],
  ["a value is no longer accepted", replace('["a","b"]', '["a"]'), '?kind: "b" is gone'],
  ["a value is accepted too", replace('["a","b"]', '["a","b","c"]'), null],
  ["a maximum is lowered", replace('"maximum":100', '"maximum":50'), "maximum is now 50"],
  ["a maximum is raised", replace('"maximum":100', '"maximum":500'), null],
  ["a minimum is raised", replace('"minimum":1', '"minimum":2'), "minimum is now 2"],
  [
    "a pattern is added to input",
    replace('"name":{"type":"string"}', '"name":{"type":"string","pattern":"^a"}'),
    "body.name: pattern is now ^a",
  ],
  [
    "a field of the body is removed",
    replace('"note":{"type":["string","null"]}', '"other":{"type":"string"}'),
    "body.note: is gone",
  ],
  [
    "a field of the body becomes required",
    replace('"required":["name"]', '"required":["name","note"]'),
    "body.note: is now required",
  ],
  [
    "null is no longer accepted",
    replace('["string","null"]', '"string"'),
    "no longer accepts null",
  ],
  [
    "the body becomes required",
    replace('"requestBody":{', '"requestBody":{"required":true,'),
    "body: is now required",
  ],
  ["a status is removed", replace('"404"', '"410"'), "get /v1/things 404: is gone"],
  ["a code is removed", replace('"not_found","gone"', '"not_found"'), '"gone" is gone'],
  ["a code is added", replace('"not_found","gone"', '"not_found","gone","sold"'), null],
  [
    "a media type is removed",
    replace("application/json", "text/plain"),
    "application/json: is gone",
  ],
  ["a field is removed", replace('"id":{"type":"string"},', ""), "200.id: is gone"],
  ["a field is added", replace('"id":{', '"more":{"type":"string"},"id":{'), null],
  [
    "a field changes its type",
    replace('"id":{"type":"string"}', '"id":{"type":"number"}'),
    "200.id: is never string",
  ],
  [
    "a field may now be null",
    replace('"id":{"type":"string"}', '"id":{"type":["string","null"]}'),
    "200.id: may now be null",
  ],
  [
    "a field may now be absent",
    replace('["id","price"]', '["price"]'),
    "200.id: may now be absent",
  ],
  ["a field is never null again", replace('{"type":"null"}', '{"type":"number"}'), null],
  [
    "a field is always null",
    replace('{"type":"number"}', '{"type":"null"}'),
    "200.price: is never number",
  ],
  [
    "a format is added",
    replace('"id":{"type":"string"', '"id":{"type":"string","format":"uri"'),
    "format was",
  ],
];

describe("a document compared with the released one", () => {
  it.each(changes)("when %s", (_what, change, found) => {
    const today = JSON.parse(change(JSON.stringify(released)));
    const breaks = compareDocuments(released, today);
    if (found === null) expect(breaks).toEqual([]);
    else expect(breaks.join("\n")).toContain(found);
  });

  it.each(["v1", "account"] as const)("finds a field that any schema of %s has lost", (api) => {
    const document = readReleased(api);
    const { schemas = {} } = document.components ?? {};
    const isAnswered = (name: string) =>
      JSON.stringify(document.paths).includes(`schemas/${name}"`);
    for (const [name, schema] of Object.entries(schemas).filter(([name]) => isAnswered(name))) {
      const [field, ...others] = Object.entries(schema.properties ?? {});
      if (field === undefined) continue;
      const changed = { ...schema, properties: Object.fromEntries(others) };
      const today = { ...document, components: { schemas: { ...schemas, [name]: changed } } };
      const components = { ...document.components, ...today.components };
      const breaks = compareDocuments(document, { ...today, components });
      expect(breaks.join("\n"), name).toContain(`.${field[0]}: is gone`);
    }
  });
});

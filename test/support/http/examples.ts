import { writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type Example, type Examples, readExamples } from "#api/reference/examples.ts";
import { wrappedNative } from "#chains/index.ts";
import type { ClientAnswers } from "./generated-clients.ts";
import { isMedia, type OperationRequests } from "./operation-requests.ts";

const file = new URL("../../../api/reference/examples.json", import.meta.url);

/** The examples that these requests and answers make; the documents themselves and media have none. */
export function examplesOf(requests: OperationRequests, answers: ClientAnswers): Examples {
  return Object.fromEntries(
    Object.entries(answers)
      .filter(([name]) => !name.endsWith("/openapi.json") && !isMedia(name))
      .map(([name, { status, body }]) => [name, { ...requests[name], status, answer: body }]),
  );
}

/** Where the test's receiver of webhooks is. */
const receiver = /http:\/\/127\.0\.0\.1:\d+/g;

/** Replaces the stored examples of one API. The account's is of ApeChain, whatever chain the test's market is on. */
export function storeExamples(api: "v1" | "account", examples: Examples): void {
  const published = JSON.stringify(examples).replaceAll(receiver, "https://hooks.example.com");
  const stored = api === "account" ? onApeChain(examples) : JSON.parse(published);
  writeFileSync(file, `${JSON.stringify({ ...readExamples(), [api]: stored }, null, 1)}\n`);
}

function onApeChain(examples: Examples): Examples {
  const text = JSON.stringify(examples)
    .replaceAll('"chain_id":1,', '"chain_id":33139,')
    .replaceAll('?chainId=1"', '?chainId=33139"')
    .replaceAll('"ETH"', '"APE"')
    .replaceAll('"WETH"', '"WAPE"')
    .replaceAll(wrappedNative[1], wrappedNative[33139]);
  return JSON.parse(text);
}

/** The names and types of a value's parts; of a list those of its first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const parts = Object.entries(value).map(([name, part]) => [name, shapeOf(part)] as const);
  return Object.fromEntries(parts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** By operation: the shapes of an example's parts. */
export const shapesOf = (examples: Examples): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(examples).map(([name, { status, ...rest }]) => [
      name,
      { status, shape: shapeOf(rest satisfies Omit<Example, "status">) },
    ]),
  );

type Described = { readonly schema?: object; readonly example?: unknown };

/** Every example that a document holds, by its place, and what its schema says against it. */
export function checkExamples(document: object): { places: string[]; errors: string[] } {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "document");
  const places: string[] = [];
  const errors: string[] = [];
  const visit = (part: unknown, pointer: string) => {
    if (typeof part !== "object" || part === null) return;
    const { schema, example } = part as Described;
    if (schema !== undefined && example !== undefined) {
      places.push(pointer);
      const isValid = ajv.validate({ $ref: `document#${pointer}/schema` }, example);
      if (!isValid) errors.push(`${decodeURIComponent(pointer)}: ${ajv.errorsText()}`);
      return;
    }
    for (const [name, inner] of Object.entries(part)) {
      const segment = name.replaceAll("~", "~0").replaceAll("/", "~1");
      visit(inner, `${pointer}/${encodeURIComponent(segment)}`);
    }
  };
  visit((document as { paths: object }).paths, "/paths");
  return { places, errors };
}

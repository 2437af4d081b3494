import openapiTS, { astToString } from "openapi-typescript";
import { resolve } from "./schema.ts";

type Json = Record<string, unknown>;

/**
 * The types of a document, in alphabetical order and a line each, so that two additions rarely meet in one place. Of each
 * operation only the successes: `ErrorCode` is the code of any refusal.
 */
export async function generateTypes(document: object): Promise<string> {
  const slim = JSON.parse(JSON.stringify(document));
  const codes = new Set<string>();
  for (const operation of operationsOf(slim)) {
    operation.parameters = parametersOf(operation)
      .map((one) => resolve(slim, one))
      .filter(({ name }) => name !== "X-Min-Position");
    delete operation.summary;
    const responses = operation.responses as Record<string, Json>;
    for (const [status, response] of Object.entries(responses)) {
      delete response.headers;
      if (status.startsWith("2")) continue;
      collectCodes(response, codes);
      delete responses[status];
    }
  }
  for (const response of Object.values(slim.components.responses ?? {}))
    collectCodes(response as Json, codes);
  slim.components = { schemas: slim.components.schemas };
  const types = astToString(await openapiTS(withoutExamples(slim), { alphabetize: true }));
  const lines = [...codes].toSorted().map((code) => `    | "${code}"`);
  return [
    "// Generated from the API's document by `npm run sdk:generate`; not edited by hand.",
    types.replaceAll(absent, "").trimEnd(),
    `/** The code of a refusal. */\nexport type ErrorCode =\n${lines.join("\n")};\n`,
  ].join("\n");
}

/** What the generator says of methods and parameters that there are not. */
const absent =
  /^ +(?:(?:get|put|post|delete|options|head|patch|trace)\?: never;|parameters: \{\n(?: +\w+\?: never;\n)+ +\};)\n/gm;

/** Without the position, which the client sends by itself. */
const parametersOf = ({ parameters = [] }: Json) => parameters as Json[];

function operationsOf({ paths }: { paths: Record<string, Record<string, Json>> }): Json[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

/** The codes that a refusal may have, from the schema of its body. */
function collectCodes(response: Json, codes: Set<string>): void {
  const content = (response.content ?? {}) as Record<string, { schema?: Json }>;
  for (const { schema } of Object.values(content)) {
    const code = (schema?.properties as Record<string, Json> | undefined)?.code;
    for (const value of (code?.enum as string[] | undefined) ?? [code?.const])
      if (typeof value === "string") codes.add(value);
  }
}

/** Examples change with every run of the local market, types must not. */
function withoutExamples(document: Json): never {
  return JSON.parse(
    JSON.stringify(document, (key, value) => (key === "example" ? undefined : value)),
  ) as never;
}

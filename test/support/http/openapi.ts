import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Express } from "express";
import { z } from "zod";
import { type Listening, listen } from "#api/http/server.ts";
import { type ApiDocument, operationsOf } from "#api/reference/api-document.ts";
import { withWholeRows } from "#api/reference/row-fields.ts";

const Operation = z.looseObject({
  parameters: z.array(z.looseObject({ in: z.string(), name: z.string() })).optional(),
  responses: z.record(z.string(), z.looseObject({})),
});

const Document = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
});

type ApiAnswer = { status: number; headers: Headers; body: unknown };

/** A client that validates every response against the served OpenAPI document. */
export type ApiClient = {
  url: string;
  document: z.output<typeof Document>;
  get(pathAndQuery: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** `body` is sent as JSON; a string is sent unchanged. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  close(): Promise<void>;
};

type Place = { base: string; path: string };

/** Serves the app on a free port and reads the document of the API whose paths begin at `base`. */
export async function serve(
  app: Express,
  place: Place = { base: "", path: "/v1/openapi.json" },
): Promise<ApiClient> {
  const listening: Listening = await listen(app, "127.0.0.1", 0);
  const client = await documentedAt(`http://127.0.0.1:${listening.port}`, place);
  return { ...client, close: listening.close };
}

/** A client of an API that is served at `url`; closing it leaves the API. */
export async function documentedAt(url: string, { base, path }: Place): Promise<ApiClient> {
  const { document, check } = readDocument(await (await fetch(url + base + path)).text(), base);
  const ask = async (pathAndQuery: string, request: RequestInit): Promise<ApiAnswer> => {
    const response = await fetch(url + pathAndQuery, request);
    const text = await response.text();
    const body = bodyOf(response, text);
    if (response.status !== 304) check(request.method ?? "get", pathAndQuery, response, body);
    return { status: response.status, headers: response.headers, body };
  };
  return {
    url,
    document,
    get: (pathAndQuery, headers = {}) => ask(pathAndQuery, { headers }),
    post(path, body, headers = {}) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return ask(path, { method: "post", body: text ?? null, headers });
    },
    close: async () => {},
  };
}

type Documented = { document: z.output<typeof Document>; check: ReturnType<typeof answerChecker> };

/** By their texts: the files of a worker share compiled validators, which cost more than the requests. */
const documents = new Map<string, Documented>();

function readDocument(text: string, base: string): Documented {
  const known = documents.get(text);
  if (known !== undefined) return known;
  const document = Document.parse(withOwnParts(JSON.parse(text)));
  // The checks know which fields were asked for.
  const documented = { document, check: answerChecker(withWholeRows(document), base) };
  documents.set(text, documented);
  return documented;
}

/** Where several operations share parameters and refusals, each with its own; answers of all operations stay shared. */
export function withOwnParts<Whole extends ApiDocument>(document: Whole): Whole {
  const paths: Record<string, Record<string, object>> = structuredClone(Object(document.paths));
  for (const { path, method, parameters, responses } of operationsOf(document)) {
    const methods = paths[path] ?? {};
    const { responses: named } = z
      .object({ responses: z.record(z.string(), z.looseObject({})) })
      .parse(methods[method]);
    const own = Object.entries(responses ?? {}).map(([status, one]) =>
      ["304", "405", "default"].includes(status) ? [status, named[status]] : [status, one],
    );
    methods[method] = {
      ...methods[method],
      ...(parameters && { parameters: structuredClone(parameters) }),
      responses: Object.fromEntries(own),
    };
  }
  return { ...document, paths };
}

function answerChecker(document: z.output<typeof Document>, base: string) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "document");
  const validators = new Map<string, ValidateFunction>();
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}/?$`),
  }));

  function validatorOf(method: string, path: string, status: string): ValidateFunction {
    const pointer = ["paths", path, method, "responses", status, "content", "application/json"];
    const ref = `document#/${[...pointer, "schema"].map(escapePointer).join("/")}`;
    const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
    validators.set(ref, validate);
    return validate;
  }

  function checkBody(validate: ValidateFunction, asked: string, body: unknown): void {
    if (validate(body)) return;
    const errors = (validate.errors ?? []).filter((error) => !isLeftOut(error, fieldsIn(asked)));
    if (errors.length > 0)
      throw new Error(`${asked} is not as documented: ${ajv.errorsText(errors)}`);
  }

  return (method: string, pathAndQuery: string, response: Response, body: unknown) => {
    const [asked = ""] = pathAndQuery.slice(base.length).split("?");
    const found = patterns.filter(({ pattern }) => pattern.test(asked)).map(({ path }) => path);
    const path = found.find((one) => one === asked) ?? found[0] ?? "";
    const status = String(response.status);
    const documented = document.paths[path]?.[method]?.responses[status];
    if (documented === undefined) {
      throw new Error(`${asked} answered ${status}, which is not documented`);
    }
    if (isMedia(response)) checkMedia(documented, response);
    else checkBody(validatorOf(method, path, status), pathAndQuery, body);
    const isRead = method === "get" && status === "200";
    const required = isRead ? ["x-request-id", "etag"] : ["x-request-id"];
    const { headers = {} } = documented as { headers?: object };
    const position = "X-Position" in headers ? ["x-position"] : [];
    const missing = [...required, ...position, ...(headersOf[status] ?? [])].filter(
      (header) => !response.headers.has(header),
    );
    if (missing.length > 0) throw new Error(`${pathAndQuery} lacks ${missing.join()}`);
  };
}

/** `fields` of a request; null: none. */
function fieldsIn(pathAndQuery: string): readonly string[] | null {
  const [, query = ""] = pathAndQuery.split("?");
  return new URLSearchParams(query).get("fields")?.split(",") ?? null;
}

/** Whether an error is that a row lacks a field that was not asked for. */
function isLeftOut(
  { keyword, instancePath, params }: ErrorObject,
  asked: readonly string[] | null,
) {
  const isOfRow = keyword === "required" && /^\/data\/\d+$/.test(instancePath);
  return asked !== null && isOfRow && !asked.includes(params.missingProperty);
}

const isMedia = (response: Response) => response.ok && typeOf(response) !== "application/json";

function bodyOf(response: Response, text: string): unknown {
  if (text === "") return undefined;
  return isMedia(response) ? text : JSON.parse(text);
}

const typeOf = (response: Response) => response.headers.get("content-type")?.split(";")[0];

/** What is no JSON has one of the documented types, which may be ranges such as `image/*`. */
function checkMedia(documented: unknown, response: Response): void {
  const { content = {} } = (documented ?? {}) as { content?: object };
  const type = typeOf(response) ?? "";
  const ranges = [type, type.replace(/\/.*/, "/*")];
  if (!Object.keys(content).some((one) => ranges.includes(one)))
    throw new Error(`${response.url} answered ${type}, which is not documented`);
}

const headersOf: Record<string, string[]> = {
  401: ["www-authenticate"],
  429: ["retry-after"],
  503: ["retry-after"],
};

/** Encodes a segment of a JSON pointer in a URI fragment. */
function escapePointer(word: string): string {
  return encodeURIComponent(word.replaceAll("~", "~0").replaceAll("/", "~1"));
}

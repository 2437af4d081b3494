import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { type Envelope, metaEnvelope } from "./api-profile.ts";
import { bodyRefusals } from "./body.ts";
import { overloadRefusals } from "./concurrency.ts";
import { databaseRefusals } from "./failures.ts";
import { limitRefusals } from "./limit.ts";
import { documentedRows } from "./page.ts";
import { parameterRefusals } from "./query.ts";
import { positionRefusals } from "./reads/position.ts";
import {
  fileTypes,
  type Refusal,
  type Refusals,
  type Route,
  readsOf,
  successesOf,
} from "./route.ts";

/** Response headers, as OpenAPI components. */
const headers = {
  "X-Request-Id": {
    description:
      "Identifies the request in our log. An id of 8 to 64 characters sent by the caller is used.",
    schema: { type: "string" as const },
    required: true,
  },
  ETag: { description: "For If-None-Match.", schema: { type: "string" as const }, required: true },
  "X-Position": {
    description:
      "How far the data of the answer is: what it tells, or what a POST did, is in every answer of the same chain with this number or a higher one.",
    schema: { type: "string" as const, pattern: "^\\d+$" },
    required: true,
  },
  Link: { description: 'The next page, `rel="next"`.', schema: { type: "string" as const } },
  Help: {
    description: 'The explanation of `code`, `rel="help"`.',
    schema: { type: "string" as const },
  },
  "X-RateLimit-Limit": {
    description: "Requests per minute allowed to the caller; absent when there is no limit.",
    schema: { type: "integer" as const },
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in this minute. A 304 does not count.",
    schema: { type: "integer" as const },
  },
  "X-RateLimit-Reset": {
    description: "When the limit resets, in unix seconds.",
    schema: { type: "integer" as const },
  },
  RateLimit: {
    description:
      "What is left and seconds until the limit resets, as draft-ietf-httpapi-ratelimit-headers-11 writes it.",
    schema: { type: "string" as const },
  },
  "RateLimit-Policy": {
    description: "The limit and its seconds, of the same draft.",
    schema: { type: "string" as const },
  },
  "Retry-After": {
    description: "Seconds to wait before retrying.",
    schema: { type: "integer" as const, minimum: 1 },
    required: true,
  },
  "WWW-Authenticate": {
    description: "Why the key was refused.",
    schema: { type: "string" as const },
    required: true,
  },
};

/** How a caller identifies itself. */
const securitySchemes = {
  apiKey: {
    type: "apiKey" as const,
    in: "header" as const,
    name: "X-API-Key",
    description:
      "Gives the caller its own rate limit. Get one from `POST /v1/auth/keys`; requests without a key are limited by address.",
  },
};

function header(name: keyof typeof headers) {
  return { $ref: `#/components/headers/${name}` };
}

const everyHeader = { "X-Request-Id": header("X-Request-Id") };

/** Of every answer that counts; described where the limit is reached, and in words for all. */
const limitHeaders = {
  "X-RateLimit-Limit": header("X-RateLimit-Limit"),
  "X-RateLimit-Remaining": header("X-RateLimit-Remaining"),
  "X-RateLimit-Reset": header("X-RateLimit-Reset"),
  RateLimit: header("RateLimit"),
  "RateLimit-Policy": header("RateLimit-Policy"),
};

type Status = `${1 | 2 | 3 | 4 | 5}${string}`;

/** The documented successes of a route. */
function successes<Context>(route: Route<Context>, envelope: Envelope) {
  const responses: Record<Status, ZodOpenApiResponseObject> = {};
  for (const [status, description] of Object.entries(successesOf(route))) {
    responses[status as Status] = success(route, description, envelope);
  }
  return responses;
}

function success<Context>(
  route: Route<Context>,
  description: string,
  { describe }: Envelope,
): ZodOpenApiResponseObject {
  const { method, meta, isBatch, mediaTypes, hasFiles, streams } = route;
  const data = documentedRows(route);
  const schema = isBatch ? z.object({ ...batchFields, data }) : describe({ data, meta });
  return {
    description,
    headers: {
      ...everyHeader,
      ...(method === "get" && { ETag: header("ETag") }),
      ...(readsOf(route) !== "nothing" && { "X-Position": header("X-Position") }),
      ...(meta && { Link: header("Link") }),
    },
    content: {
      ...(mediaTypes === undefined ? { "application/json": { schema } } : bytesOf(mediaTypes)),
      ...(hasFiles && {
        [fileTypes.csv]: { schema: { type: "string" as const } },
        [fileTypes.parquet]: { schema: binary },
      }),
      ...(streams && { "text/event-stream": { schema: { type: "string" as const } } }),
    },
  };
}

const binary = { type: "string", format: "binary" } as const;

const bytesOf = (mediaTypes: readonly string[]) =>
  Object.fromEntries(
    mediaTypes.map((type) => [type, { schema: type === "application/json" ? {} : binary }]),
  );

const batchFields = {
  success: z.boolean().meta({ description: "Whether at least one item succeeded." }),
  message: z.string(),
  error: z
    .string()
    .optional()
    .meta({ description: "Equal to `message`; present when no item succeeded." }),
};

/** One response for each status of those codes. */
export function failures(refuses: Refusals) {
  const responses: Record<Status, ZodOpenApiResponseObject> = {};
  const statuses = Object.values(refuses).map(statusOf);
  for (const status of new Set(statuses)) {
    const ofStatus = Object.entries(refuses).filter(([, one]) => statusOf(one) === status);
    responses[`${status}` as Status] = failure(status, Object.fromEntries(ofStatus));
  }
  return responses;
}

const statusOf = (refusal: Refusal): number =>
  typeof refusal === "number" ? refusal : refusal.status;

function failure(status: number, refuses: Refusals): ZodOpenApiResponseObject {
  const codes = Object.keys(refuses);
  const retryValues = Object.values(refuses).flatMap((one) =>
    typeof one === "number" ? [] : one.retry,
  );
  const schema = z.object({
    success: z.literal(false),
    error: z.string(),
    message: z.string(),
    code: z.enum(codes),
    details: details.optional(),
    ...(retryValues.length > 0 && { retry: z.enum([...new Set(retryValues)]).optional() }),
    requestId: z.string(),
  });
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: {
      ...everyHeader,
      Link: header("Help"),
      ...(status === 429 && limitHeaders),
      ...(status === 401 && { "WWW-Authenticate": header("WWW-Authenticate") }),
      ...((status === 429 || status === 503) && { "Retry-After": header("Retry-After") }),
    },
    content: { "application/json": { schema } },
  };
}

const detail = z
  .object({
    field: z.string(),
    expected: z.string().optional(),
    actual: z.string().optional(),
    message: z.string(),
  })
  .meta({ id: "ErrorDetail" });
const details = z.array(detail).meta({ id: "ErrorDetails" });

/** Answers of every operation, before it is asked. */
const sharedResponses: Record<string, ZodOpenApiResponseObject> = {
  NotModified: {
    description:
      "`If-None-Match` names the current ETag: there is no body, and the request does not count.",
    headers: { ...everyHeader, ETag: header("ETag") },
  },
  MethodNotAllowed: {
    ...failure(405, { method_not_allowed: 405 }),
    headers: {
      ...everyHeader,
      Allow: {
        description: "The methods of this path.",
        schema: { type: "string" },
        required: true,
      },
    },
  },
  Unreadable: {
    ...failure(400, { bad_request: 400, request_timeout: 408, headers_too_large: 431 }),
    description:
      "The request did not arrive as HTTP: `bad_request` (400), `request_timeout` (408), `headers_too_large` (431).",
  },
};

export const sharedResponse = (name: "NotModified" | "MethodNotAllowed" | "Unreadable") => ({
  $ref: `#/components/responses/${name}`,
});

type Description = { title: string; version: string; description: string; baseUrl: string };

/** What applies to all endpoints of one API. */
type DocumentDefaults = {
  readonly envelope: Envelope;
  /** OpenAPI security schemes, and which of them are required. */
  readonly securitySchemes: NonNullable<ZodOpenApiComponentsObject["securitySchemes"]>;
  readonly security: NonNullable<ZodOpenApiObject["security"]>;
  /** Codes added to each route's own: credentials and limits. Open routes only get those of limits. */
  readonly refusals: Refusals;
};

/** A key is optional everywhere. */
const apiKeyDefaults: DocumentDefaults = {
  envelope: metaEnvelope,
  securitySchemes,
  security: [{}, { apiKey: [] }],
  refusals: limitRefusals,
};

/** The OpenAPI 3.1 document of a list of routes. `extra` adds paths that are not in the list. */
export function describeRoutes<Context>(
  routes: readonly Route<Context>[],
  { baseUrl, ...info }: Description,
  extra: ZodOpenApiPathsObject,
  terms: DocumentDefaults = apiKeyDefaults,
) {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route, terms) };
  }
  const document = createDocument(
    {
      openapi: "3.1.1",
      info,
      servers: [{ url: baseUrl }],
      security: terms.security,
      paths: { ...paths, ...extra },
      components: { headers, securitySchemes: terms.securitySchemes, responses: sharedResponses },
    },
    { override: ({ jsonSchema, io }) => loosen(jsonSchema, io) },
  );
  const named = Object.values(document.paths ?? {}).flatMap(({ get, post }) =>
    [get, post].flatMap((one) => one?.tags ?? []),
  );
  const tags = [...new Set(named)].map((name) => ({ name }));
  leaveToAlternatives(document);
  return { ...document, tags, paths: withWrittenParameters(document.paths ?? {}) };
}

/**
 * What may be null says of its value what its value says, since wrappers have the `meta` of what they wrap: a `type` beside
 * the alternatives would forbid the null, and generators take it for the whole. It belongs to the value.
 */
function leaveToAlternatives(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const schema: Record<string, unknown> = node as Record<string, unknown>;
  const [value, other] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  if (other?.type === "null") {
    const repeated = Object.keys(value).filter((one) => one !== "description" && one in schema);
    for (const keyword of repeated) {
      value[keyword] = schema[keyword];
      delete schema[keyword];
    }
  }
  Object.values(schema).forEach(leaveToAlternatives);
}

type Paths = NonNullable<ReturnType<typeof createDocument>["paths"]>;

/**
 * Query parameters that are objects are written `name[key]=value`. What a schema says of a parameter stands at the parameter,
 * where tools look for it.
 */
function withWrittenParameters(paths: Paths): Paths {
  const parameters = Object.values(paths).flatMap(({ get, post }) =>
    [get, post].flatMap((one) => one?.parameters ?? []),
  );
  for (const parameter of parameters) {
    if ("$ref" in parameter || !("schema" in parameter)) continue;
    if (parameter.schema !== undefined && !("$ref" in parameter.schema))
      writeParameter(parameter, parameter.schema);
  }
  return paths;
}

type Written = { description?: string; type?: unknown };

function writeParameter(parameter: { description?: string }, schema: Written): void {
  if (schema.type === "object") Object.assign(parameter, { style: "deepObject", explode: true });
  if (schema.description === undefined) return;
  parameter.description ??= schema.description;
  delete schema.description;
}

function operation<Context>(
  route: Route<Context>,
  { envelope, refusals }: DocumentDefaults,
): ZodOpenApiOperationObject {
  const { method, operationId, tag, summary, params, query, body, refuses, isOpen, streams } =
    route;
  const isPositioned = readsOf(route) !== "nothing";
  const headerFields = [isPositioned && positionFields, streams && resumptionFields].filter(
    (fields) => fields !== false && fields !== undefined,
  );
  const requestParams = {
    ...(params && { path: params }),
    ...(query && { query }),
    ...(headerFields.length > 0 && { header: z.object(Object.assign({}, ...headerFields)) }),
  };
  return {
    operationId,
    tags: [tag],
    summary,
    ...(isOpen && { security: [] }),
    requestParams,
    ...(body && { requestBody: requestBody(body) }),
    responses: {
      ...successes(route, envelope),
      ...failures({
        ...refuses,
        ...parameterRefusals,
        ...(body && bodyRefusals),
        ...(isOpen ? { rate_limited: 429 } : refusals),
        ...overloadRefusals,
        ...databaseRefusals,
        ...(isPositioned && positionRefusals),
        internal: 500,
      }),
      ...(method === "get" && { "304": sharedResponse("NotModified") }),
      "405": sharedResponse("MethodNotAllowed"),
      default: sharedResponse("Unreadable"),
    },
  };
}

/** Of streams: what a browser sends when it comes back. */
const resumptionFields = {
  "Last-Event-ID": z.string().optional().meta({
    description: "Resumes after this event without loss or repeat; takes precedence over `after`.",
  }),
};

export const resumption = z.object(resumptionFields);

const positionFields = {
  "X-Min-Position": z
    .string()
    .optional()
    .meta({
      description:
        "`X-Position` of an earlier answer, of the same chain: the data is at least as new. Waits up to 250 ms, else 503 `position_not_reached`; at once for a position beyond the log. Also as the query parameter `min_position`.",
      override: { type: "string", pattern: "^\\d{1,18}$" },
    }),
};

/** Required, unless the endpoint answers without one. */
function requestBody(body: z.ZodType) {
  const required = !body.safeParse(undefined).success;
  return { required, content: { "application/json": { schema: body } } };
}

/**
 * Clients must accept new fields of responses, so these stay open, while requests refuse unknown ones; JavaScript's
 * integer bounds are not part of the contract.
 */
function loosen(schema: Record<string, unknown>, io: "input" | "output"): void {
  if (io === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // A time has its format.
  if (schema.pattern === undefined || schema.format === "date-time") delete schema.pattern;
}

/** The entry for the document itself, which needs no credentials. */
export const thisDocument: ZodOpenApiPathsObject[string] = {
  get: {
    operationId: "getOpenApiDocument",
    tags: ["Service"],
    summary: "This document",
    security: [],
    responses: {
      "200": {
        description: "OpenAPI 3.1",
        headers: { ETag: header("ETag"), "X-Request-Id": header("X-Request-Id") },
        content: { "application/json": { schema: { type: "object" } } },
      },
      "304": sharedResponse("NotModified"),
      "405": sharedResponse("MethodNotAllowed"),
      ...failures(parameterRefusals),
      default: sharedResponse("Unreadable"),
    },
  },
};

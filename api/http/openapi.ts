import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import { type Envelope, metaEnvelope } from "./api-profile.ts";
import { bodyRefusals } from "./body.ts";
import { overloadRefusals } from "./concurrency.ts";
import { databaseRefusals } from "./failures.ts";
import { limitRefusals } from "./limit.ts";
import {
  failures,
  header,
  responseHeaders,
  sharedResponse,
  sharedResponses,
  successes,
} from "./openapi-responses.ts";
import { parameterRefusals } from "./query.ts";
import { positionRefusals } from "./reads/position.ts";
import { type Refusals, type Route, readsOf } from "./route.ts";

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
      components: {
        headers: responseHeaders,
        securitySchemes: terms.securitySchemes,
        responses: sharedResponses,
      },
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

import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from "zod-openapi";
import { type Envelope, metaEnvelope } from "./envelope.ts";
import { limitRefusals } from "./limit.ts";
import { everyHeader, header, headers, securitySchemes } from "./openapi-headers.ts";
import { type Refusal, type Refusals, type Route, successesOf } from "./route.ts";

type Description = { title: string; version: string; description: string; baseUrl: string };

/** What applies to all endpoints of one API. */
export type DocumentDefaults = {
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
  return createDocument(
    {
      openapi: "3.1.1",
      info,
      servers: [{ url: baseUrl }],
      security: terms.security,
      paths: { ...paths, ...extra },
      components: { headers, securitySchemes: terms.securitySchemes },
    },
    { override: ({ jsonSchema }) => loosen(jsonSchema) },
  );
}

function operation<Context>(
  route: Route<Context>,
  { envelope, refusals }: DocumentDefaults,
): ZodOpenApiOperationObject {
  const { tag, summary, params, query, body, refuses, isOpen } = route;
  const requestParams = { ...(params && { path: params }), ...(query && { query }) };
  return {
    operationId: operationId(route.method, route.path),
    tags: [tag],
    summary,
    ...(isOpen && { security: [] }),
    requestParams,
    ...(body && { requestBody: { content: { "application/json": { schema: body } } } }),
    responses: {
      ...successes(route, envelope),
      ...failures({
        ...refuses,
        ...(body && bodyRefusals),
        ...(isOpen ? { rate_limited: 429 } : refusals),
        internal: 500,
      }),
    },
  };
}

/** Codes of the body parser, for every route with a body. */
const bodyRefusals = { payload_too_large: 413, unsupported_media_type: 415 };

type Status = `${1 | 2 | 3 | 4 | 5}${string}`;

function successes<Context>(route: Route<Context>, envelope: Envelope) {
  const responses: Record<Status, ZodOpenApiResponseObject> = {};
  for (const [status, description] of Object.entries(successesOf(route))) {
    responses[status as Status] = success(route, description, envelope);
  }
  return responses;
}

function success<Context>(
  { method, data, meta, isBatch }: Route<Context>,
  description: string,
  { describe }: Envelope,
): ZodOpenApiResponseObject {
  const schema = isBatch ? z.object({ ...batchFields, data }) : describe({ data, meta });
  return {
    description,
    headers: {
      ...everyHeader,
      ...(method === "get" && { ETag: header("ETag") }),
      ...(meta && { Link: header("Link") }),
    },
    content: { "application/json": { schema } },
  };
}

const batchFields = {
  success: z.boolean().meta({ description: "Whether at least one item succeeded." }),
  message: z.string(),
  error: z
    .string()
    .optional()
    .meta({ description: "Equal to `message`; present when no item succeeded." }),
};

function failures(refuses: Refusals) {
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
    message: z.string().meta({ description: "Equal to `error`." }),
    code: z.enum(codes),
    details: z.array(detail).optional(),
    ...(retryValues.length > 0 && { retry: z.enum([...new Set(retryValues)]).optional() }),
    requestId: z.string(),
  });
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: {
      ...everyHeader,
      ...(status === 401 && { "WWW-Authenticate": header("WWW-Authenticate") }),
      ...(status === 429 && { "Retry-After": header("Retry-After") }),
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

/** Stable names for generated clients: the method followed by the path's segments. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^\w]+/).filter((word) => word !== "" && word !== "v1");
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Clients must accept new fields, so objects stay open; JavaScript's integer bounds are not part of the contract. */
function loosen(schema: Record<string, unknown>): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.pattern === undefined) delete schema.pattern;
}

/** The entry for the document itself, which needs no credentials. */
export const thisDocument: ZodOpenApiPathsObject[string] = {
  get: {
    operationId: "getOpenapiJson",
    tags: ["Service"],
    summary: "This document",
    security: [],
    responses: {
      "200": {
        description: "OpenAPI 3.1",
        content: { "application/json": { schema: { type: "object" } } },
      },
    },
  },
};

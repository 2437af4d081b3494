import { z } from "zod";
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from "zod-openapi";
import type { Refusals, Route } from "./route.ts";

type Description = { title: string; version: string; description: string; baseUrl: string };

/** The OpenAPI 3.1 document of the table. `extra` adds paths that are served beside it. */
export function describeRoutes<Context>(
  routes: readonly Route<Context>[],
  { baseUrl, ...info }: Description,
  extra: ZodOpenApiPathsObject,
) {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  }
  return createDocument(
    {
      openapi: "3.1.1",
      info,
      servers: [{ url: baseUrl }],
      paths: { ...paths, ...extra },
      components: { headers: headers },
    },
    { override: ({ jsonSchema }) => loosen(jsonSchema) },
  );
}

function operation<Context>(route: Route<Context>): ZodOpenApiOperationObject {
  const { tag, summary, params, query, body, refuses } = route;
  const requestParams = { ...(params && { path: params }), ...(query && { query }) };
  return {
    operationId: operationId(route.method, route.path),
    tags: [tag],
    summary,
    requestParams,
    ...(body && { requestBody: { content: { "application/json": { schema: body } } } }),
    responses: { "200": success(route), ...failures({ ...refuses, internal: 500 }) },
  };
}

function success<Context>({ data, meta }: Route<Context>) {
  const schema = z.object({ success: z.literal(true), data, ...(meta && { meta }) });
  const common = { "X-Request-Id": header("X-Request-Id"), ETag: header("ETag") };
  return {
    description: "Success",
    headers: meta === undefined ? common : { ...common, Link: header("Link") },
    content: { "application/json": { schema } },
  };
}

function failures(refuses: Refusals) {
  const responses: Record<`${1 | 2 | 3 | 4 | 5}${string}`, ReturnType<typeof failure>> = {};
  for (const status of new Set(Object.values(refuses))) {
    const codes = Object.keys(refuses).filter((code) => refuses[code] === status);
    responses[`${status}` as keyof typeof responses] = failure(codes);
  }
  return responses;
}

function failure(codes: string[]) {
  const schema = z.object({
    success: z.literal(false),
    error: z.string(),
    message: z.string().meta({ description: "Equal to `error`." }),
    code: z.enum(codes),
    details: z.array(detail).optional(),
    requestId: z.string(),
  });
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    headers: { "X-Request-Id": header("X-Request-Id") },
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

const headers = {
  "X-Request-Id": {
    description: "Names the request in our log. A caller's own id of 8 to 64 characters is kept.",
    schema: { type: "string" as const },
    required: true,
  },
  ETag: { description: "For If-None-Match.", schema: { type: "string" as const }, required: true },
  Link: { description: 'The next page, `rel="next"`.', schema: { type: "string" as const } },
};

function header(name: keyof typeof headers) {
  return { $ref: `#/components/headers/${name}` };
}

/** Stable names for generated clients: the method and the path's words. */
function operationId(method: string, path: string): string {
  const words = path.split(/[^\w]+/).filter((word) => word !== "" && word !== "v1");
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** Clients must accept fields added later, and a whole number's bounds are not JavaScript's. */
function loosen(schema: Record<string, unknown>): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.pattern === undefined) delete schema.pattern;
}

import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import type { Envelope } from "./api-profile.ts";
import { documentedRows } from "./page.ts";
import {
  fileTypes,
  type Refusal,
  type Refusals,
  type Route,
  readsOf,
  successesOf,
} from "./route.ts";

/** Response headers, as OpenAPI components. */
export const responseHeaders = {
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

export function header(name: keyof typeof responseHeaders) {
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
export function successes<Context>(route: Route<Context>, envelope: Envelope) {
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
export const sharedResponses: Record<string, ZodOpenApiResponseObject> = {
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

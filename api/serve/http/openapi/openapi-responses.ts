import { z } from "zod";
import type { ZodOpenApiResponseObject } from "zod-openapi";
import type { Envelope } from "../envelope.ts";
import { type Refusal, type Refusals, type Route, readsOf, successesOf } from "../route.ts";
import { everyHeader, header } from "./openapi-headers.ts";

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
  const { method, data, meta, isBatch, mediaTypes, streams } = route;
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

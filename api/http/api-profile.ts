import { z } from "zod";
import type { ConcurrencyLimiter } from "./concurrency.ts";
import type { PositionedReads } from "./reads/positioned-reads.ts";
import type { ResponseCache } from "./reads/response-cache.ts";
import type { SlowRequests } from "./slow-requests.ts";

/** What all routes of one API share. */
export type ApiProfile = {
  readonly envelope: Envelope;
  /** Prepended to the path of each route. */
  readonly prefix: string;
  /** Query parameters that every route takes. */
  readonly parameters?: readonly string[];
  /** WWW-Authenticate of a route's own 401. */
  readonly challenge?: string;
  /** Cache for the responses of cacheable routes; without it nothing is cached. */
  readonly cache?: ResponseCache | undefined;
  /** Limits of concurrency; without them every request starts at once. */
  readonly concurrency?: ConcurrencyLimiter | undefined;
  /** Reads that took too long; without it each is tried again. */
  readonly slowRequests?: SlowRequests | undefined;
  /** Where routes read projections; without it they read nothing of them. */
  readonly reads?: PositionedReads | undefined;
};

type Payload = { readonly data: unknown; readonly meta?: unknown };
type Schemas = { readonly data: z.ZodType; readonly meta?: z.ZodType | undefined };

/** The shape of a success body: how it is built, and its schema for OpenAPI. */
export type Envelope = {
  readonly wrap: (payload: Payload) => Record<string, unknown>;
  readonly describe: (schemas: Schemas) => z.ZodType;
};

/** Paging fields are in `meta` (document 1). */
export const metaEnvelope: Envelope = {
  wrap: ({ data, meta }) => ({ success: true, data, ...(meta !== undefined && { meta }) }),
  describe: ({ data, meta }) => z.object({ success: z.literal(true), data, ...(meta && { meta }) }),
};

/** Paging fields are next to `data` (document 2). */
export const flatEnvelope: Envelope = {
  wrap: ({ data, meta }) => ({ success: true, data, ...(meta as object | undefined) }),
  describe: ({ data, meta }) =>
    z.object({
      success: z.literal(true),
      data,
      ...(meta instanceof z.ZodObject && meta.shape),
    }),
};

/** The answer is the body, as in the APIs of others whose shapes are answered. */
export const bareEnvelope: Envelope = {
  wrap: ({ data }) => z.record(z.string(), z.unknown()).parse(data),
  describe: ({ data }) => data,
};

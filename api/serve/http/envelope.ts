import { z } from "zod";

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

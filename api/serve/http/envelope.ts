import { z } from "zod";

type Payload = { readonly data: unknown; readonly meta?: unknown };
type Schemas = { readonly data: z.ZodType; readonly meta?: z.ZodType | undefined };

/** How a success stands in the body: what is sent, and what the document says of it. */
export type Envelope = {
  readonly wrap: (payload: Payload) => Record<string, unknown>;
  readonly describe: (schemas: Schemas) => z.ZodType;
};

/** What tells of a list stands in `meta`. */
export const metaEnvelope: Envelope = {
  wrap: ({ data, meta }) => ({ success: true, data, ...(meta !== undefined && { meta }) }),
  describe: ({ data, meta }) => z.object({ success: z.literal(true), data, ...(meta && { meta }) }),
};

/** What tells of a list stands beside its data. */
export const flatEnvelope: Envelope = {
  wrap: ({ data, meta }) => ({ success: true, data, ...(meta as object | undefined) }),
  describe: ({ data, meta }) =>
    z.object({
      success: z.literal(true),
      data,
      ...(meta instanceof z.ZodObject && meta.shape),
    }),
};

import type { Address } from "viem";
import { z } from "zod";
import { coinsInWords } from "#chains/texts.ts";
import { maxNativeAmount } from "../routing/native-amount.ts";

/** Rejection codes of invalid requests to buy. */
export const buyRefusals = {
  bad_request: 422,
  unsupported_chain: 422,
} as const;

/** A field with a rejection code of its own. `document` is its JSON schema; it tells one that is `given` as `required` as such. */
function coded<Schema extends z.ZodType>(
  code: "bad_request" | "bad_amount",
  schema: Schema,
  document: Record<string, unknown>,
  given = z.unknown().optional(),
) {
  return given
    .transform((value, context): z.output<Schema> => {
      const parsed = schema.safeParse(value);
      if (parsed.success) return parsed.data;
      for (const { path, message } of parsed.error.issues) {
        context.addIssue({ code: "custom", path, message, params: { rejects: code } });
      }
      return z.NEVER;
    })
    .meta({ override: document });
}

const addressPattern = "^0x[a-fA-F0-9]{40}$";
const decimalPattern = "^(0|[1-9][0-9]*)$";

const address = z
  .string()
  .regex(new RegExp(addressPattern), "must be an address")
  .transform((text) => text.toLowerCase() as Address);

const wei = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, "must be decimal wei")
  .transform(BigInt);

const amount = z
  .number()
  .int("must be a whole number of units")
  .min(1, "must be at least 1")
  .transform(BigInt);

export const buyer = coded("bad_request", address.nullish(), {
  type: "string",
  pattern: addressPattern,
  description: "Receives the token. Default: the sender of the transaction.",
});

export const buyAmount = coded("bad_amount", amount.nullish(), {
  type: "integer",
  minimum: 1,
  description: "Units of an ERC-1155 token. Default: all remaining units.",
});

export const maxPrice = coded("bad_request", maxNativeAmount.nullish(), {
  type: ["number", "string"],
  description: `Maximum price of all units, in ${coinsInWords}.`,
});

export const maxPriceWei = coded("bad_request", wei.nullish(), {
  type: "string",
  pattern: decimalPattern,
  description: "The same in wei; takes precedence over `maxPrice`.",
});

/** Of the same type for our code, which finds out itself that it is missing; the document tells that it must be there. */
const required = z.unknown() as unknown as z.ZodOptional<z.ZodUnknown>;

export const askIds = coded(
  "bad_request",
  z.array(z.string().max(200)).min(1).max(20),
  { type: "array", items: { type: "string" }, minItems: 1, maxItems: 20 },
  required,
);

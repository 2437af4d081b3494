import { z } from "zod";
import { activityTypes } from "../../../projections/reads/activity/read-filter.ts";
import { text, wallet } from "../v1/routing/parameters.ts";

/** Codes of every endpoint with path or query parameters. */
export const readRefusals = { invalid_parameters: 422 } as const;

export const address = wallet;

export const collectionAddress = wallet.meta({
  description: "0x address of any contract of a collection.",
  override: { pattern: "^0x[a-fA-F0-9]{40}$" },
});

const maxAttributes = 5;

export const attributes = z
  .record(text(100), text(500))
  .refine((asked) => Object.keys(asked).length <= maxAttributes, `must be at most ${maxAttributes}`)
  .meta({
    description:
      "`attributes[<type>]=<value>`, all must match. Types in any case and spacing, values as in the token's `attributes`.",
    param: { style: "deepObject", explode: true },
  });

export const types = z
  .string()
  .transform((asked) => [...new Set(asked.split(","))].sort())
  .pipe(z.array(z.enum(activityTypes)))
  .meta({
    description: `Event types, comma-separated: ${activityTypes.join(", ")}.`,
    override: {
      type: "string",
      pattern: `^(${activityTypes.join("|")})(,(${activityTypes.join("|")}))*$`,
    },
  });

export const since = z.iso
  .datetime({ offset: true })
  .transform((moment) => new Date(moment))
  .meta({ description: "Only rows at or after this ISO 8601 time." });

const maxAddresses = 10;

/** The body of a batch request. */
export const addresses = z.array(wallet).max(maxAddresses);

import { z } from "zod";
import { type ChainId, chainIds } from "../../abis/deployments.ts";

/** Codes that every endpoint with a `chainId` refuses with. */
export const chainRefusals = { unsupported_chain: 422, invalid_parameters: 422 } as const;

export const chainId = z
  .unknown()
  .optional()
  .transform((text, context): ChainId => {
    const asked = text === undefined ? "1" : text;
    const known = chainIds.find((id) => String(id) === asked);
    if (known !== undefined) return known;
    const message = `must be one of ${chainIds.join(", ")}`;
    context.addIssue({ code: "custom", message, params: { rejects: "unsupported_chain" } });
    return z.NEVER;
  })
  .meta({
    description: "Chain the request is about.",
    override: { type: "integer", enum: [...chainIds], default: 1 },
  });

export const collectionKey = z.string().min(1).meta({
  description: "Slug or 0x address of a collection.",
});

const maxUint256 = 2n ** 256n - 1n;

const uint256 = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, "must be a decimal uint256")
  .transform(BigInt)
  .refine((value) => value <= maxUint256, "must be a decimal uint256");

export const tokenId = uint256.meta({
  description: "Token id, decimal.",
  override: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
});

export const flag = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .meta({ override: { type: "boolean", enum: undefined } });

/** PostgreSQL's text cannot hold NUL. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !value.includes("\0"), "must not hold NUL");

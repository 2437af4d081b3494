import { type Address, parseEther } from "viem";
import { z } from "zod";
import { type ChainId, chainIds } from "../../../abis/deployments.ts";
import {
  type ListingMarketplace,
  marketplaces,
} from "../../../projections/listings/marketplaces.ts";

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

/** PostgreSQL's text cannot hold NUL. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !value.includes("\0"), "must not hold NUL");

export const collectionKey = z.string().min(1).meta({
  description: "Slug or 0x address of a collection.",
});

const maxUint256 = 2n ** 256n - 1n;

export const uint256 = z
  .string()
  .regex(/^(0|[1-9]\d{0,77})$/, "must be a decimal uint256")
  .transform(BigInt)
  .refine((value) => value <= maxUint256, "must be a decimal uint256");

export const tokenId = uint256.meta({
  description: "Token id, decimal.",
  override: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
});

const ownId = "The market's prefix, a hyphen and the order hash, in any case";
export const askId = text(200).meta({
  description: `${ownId}; opensea's listings: the bare order hash; magiceden's: with its name for a prefix.`,
});
export const bidId = text(200).meta({ description: `${ownId}.` });

export const wallet = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 0x address")
  .transform((text) => text.toLowerCase() as Address)
  .meta({ description: "0x address.", override: { pattern: "^0x[a-fA-F0-9]{40}$" } });

/** Wei of an amount that is written in whole units of the native currency: exact, no float on the way. */
export const nativeAmount = z
  .string()
  .regex(/^\d{1,60}(\.\d{1,18})?$/, "must be a decimal number with at most 18 decimals")
  .transform((text) => parseEther(text))
  .meta({ override: { type: "number", minimum: 0, pattern: undefined } });

/** Names that the interface's document gives to the partner marketplaces. */
const partnerAliases = { partner_a: "opensea", partner_b: "magiceden" } as const;

/** null: all of them. */
export const marketplace = z
  .enum([...marketplaces, "partner_a", "partner_b", "all"])
  .default("all")
  .transform((name): ListingMarketplace | null => {
    if (name === "all") return null;
    return name === "partner_a" || name === "partner_b" ? partnerAliases[name] : name;
  })
  .meta({
    description: "Where it is listed. `partner_a` is opensea, `partner_b` is magiceden.",
  });

export const orderSort = z.enum(["price_asc", "price_desc", "created_at"]);

/** Orders that ended are found by their id only. */
export const openStatus = z.enum(["active", "inactive"]).default("active");

export const flag = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .meta({ override: { type: "boolean", enum: undefined } });

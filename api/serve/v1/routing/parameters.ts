import { type Address, parseEther } from "viem";
import { z } from "zod";
import { type ChainId, chainIds } from "../../../../abis/deployments.ts";
import {
  type ListingMarketplace,
  listingMarketplaces,
} from "../../../../projections/domain/listing-marketplaces.ts";
import {
  type PartnerName,
  partnerNames,
  partners,
} from "../../../../projections/domain/partners.ts";

/** Rejection codes of every endpoint with a `chainId` in its query. */
export const chainRefusals = { unsupported_chain: 422, invalid_parameters: 422 } as const;

export const chainId = z
  .unknown()
  .optional()
  .transform((text, context): ChainId => {
    const value = text === undefined ? "1" : text;
    const known = chainIds.find((id) => String(id) === value);
    if (known !== undefined) return known;
    const message = `must be one of ${chainIds.join(", ")}`;
    context.addIssue({ code: "custom", message, params: { rejects: "unsupported_chain" } });
    return z.NEVER;
  })
  .meta({
    description: "Chain the request is about.",
    override: { type: "integer", enum: [...chainIds], default: 1 },
  });

const bodyChainIdSchema = z.int().transform((value, context) => {
  const known = chainIds.find((id) => id === value);
  if (known !== undefined) return known;
  const message = `must be one of ${chainIds.join(", ")}`;
  context.addIssue({ code: "custom", message, params: { rejects: "unsupported_chain" } });
  return z.NEVER;
});

/** `chainId` of a JSON body that must name it. */
export const requiredBodyChainId = bodyChainIdSchema.meta({
  description: "Chain the order is for.",
  override: { type: "integer", enum: [...chainIds] },
});

/** `chainId` of a JSON body; 1 by default. */
export const bodyChainId = requiredBodyChainId
  .default(1)
  .meta({ description: "Chain the request is about.", override: { default: 1 } });

/** PostgreSQL's text cannot hold NUL. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !value.includes("\0"), "must not contain NUL");

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
const partnerAskId = (name: PartnerName) =>
  `listings of ${name}: ${partners[name].askIdForm === "hash" ? "the order hash" : `\`${name}-\` and the order hash`}`;
export const askId = text(200).meta({
  description: [`${ownId}`, ...partnerNames.map(partnerAskId)].join("; ").concat("."),
});
export const bidId = text(200).meta({ description: `${ownId}.` });

export const wallet = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "must be a 0x address")
  .transform((text) => text.toLowerCase() as Address)
  .meta({ description: "0x address.", override: { pattern: "^0x[a-fA-F0-9]{40}$" } });

/** Wei, from a decimal amount in units of the native currency, without rounding. */
export const nativeAmount = z
  .string()
  .regex(/^\d{1,60}(\.\d{1,18})?$/, "must be a decimal number with at most 18 decimals")
  .transform((text) => parseEther(text))
  .meta({ override: { type: "number", minimum: 0, pattern: undefined } });

const partnerByAlias = new Map(partnerNames.map((name) => [partners[name].alias, name]));

type PartnerAlias = (typeof partners)[PartnerName]["alias"];
const aliases = partnerNames.map((name) => `\`${partners[name].alias}\` is ${name}`).join(", ");

/** null: all of them. */
export const marketplace = z
  .enum([...listingMarketplaces, ...partnerByAlias.keys(), "all"])
  .default("all")
  .transform((name): ListingMarketplace | null => {
    if (name === "all") return null;
    return partnerByAlias.get(name as PartnerAlias) ?? (name as ListingMarketplace);
  })
  .meta({
    description: `Where it is listed. ${aliases}.`,
  });

export const orderSort = z.enum(["price_asc", "price_desc", "created_at"]);

/** Lists do not contain ended orders. */
export const openStatus = z.enum(["active", "inactive"]).default("active");

export const flag = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .meta({ override: { type: "boolean", enum: undefined } });

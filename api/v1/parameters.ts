import type { Address, Hex } from "viem";
import { z } from "zod";
import { type ChainId, chainIds, defaultChain } from "#chains/index.ts";
import { activityTypes } from "#projections/activity/read-event-scans.ts";
import { type ListingMarketplace, listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { orderStatuses } from "#projections/domain/orders/order-status.ts";
import { type PartnerName, partnerNames, partners } from "#projections/domain/partners.ts";
import { commaList, documentAs } from "../http/query.ts";

/** Rejection codes of every endpoint with a `chainId` in its query. */
export const chainRefusals = { unsupported_chain: 422, invalid_parameters: 422 } as const;

function parseChainId(text: unknown, context: z.RefinementCtx): ChainId {
  const known = chainIds.find((id) => String(id) === text);
  if (known !== undefined) return known;
  const message = `must be one of ${chainIds.join(", ")}`;
  context.addIssue({ code: "custom", message, params: { rejects: "unsupported_chain" } });
  return z.NEVER;
}

/** Of requests that are about no chain, or about the one that an id names. */
export const optionalChainId = z
  .unknown()
  .optional()
  .transform((text, context) => (text === undefined ? undefined : parseChainId(text, context)))
  .meta({
    description: "Must be a chain served; the answer is the same for all of them.",
    override: { type: "integer", enum: [...chainIds] },
  });

export const chainId = z
  .unknown()
  .optional()
  .transform((text = `${defaultChain.id}`, context): ChainId => parseChainId(text, context))
  .meta({
    description: "Chain the request is about.",
    override: { type: "integer", enum: [...chainIds], default: defaultChain.id },
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

/** `chainId` of a JSON body; the default chain without one. */
export const bodyChainId = requiredBodyChainId
  .default(defaultChain.id)
  .meta({ description: "Chain the request is about.", override: { default: defaultChain.id } });

/** PostgreSQL's text cannot hold NUL. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => !value.includes("\0"), "must not contain NUL");

export const collectionKey = z.string().min(1).meta({
  description:
    "Slug of a collection, or 0x address of one of its contracts. In everything but a collection's profile an address means that contract alone.",
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

const ownId = "The market's prefix as it is, a hyphen and the order hash, the hash in any case";
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

export const saleId = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hexadecimal digits")
  .transform((text) => text.toLowerCase() as Hex)
  .meta({ description: "`saleId` of a sale.", override: { pattern: "^0x[a-fA-F0-9]{64}$" } });

export const transactionHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hexadecimal digits")
  .transform((text) => text.toLowerCase() as Hex)
  .meta({ description: "Hash of a transaction.", override: { pattern: "^0x[a-fA-F0-9]{64}$" } });

const partnerByAlias = new Map(partnerNames.map((name) => [partners[name].alias, name]));

type PartnerAlias = (typeof partners)[PartnerName]["alias"];
const aliases = partnerNames.map((name) => `\`${partners[name].alias}\` is ${name}`).join(", ");

/** null: all of them. */
export const marketplace = z
  .enum([...listingMarketplaces, ...partnerByAlias.keys(), "all"])
  .default("all")
  .transform((name): ListingMarketplace | null => {
    return name === "all" ? null : (unaliased(name) as ListingMarketplace);
  })
  .meta({
    description: `Where it is listed. ${aliases}.`,
  });

/** Any marketplace that a sale may be attributed to. */
export const saleMarketplace = text(100)
  .transform(unaliased)
  .meta({
    description: `\`marketplace\` of a sale; \`unknown\` is one. ${aliases}.`,
  });

function unaliased(name: string): string {
  return partnerByAlias.get(name as PartnerAlias) ?? name;
}

export const orderSort = z.enum(["price_asc", "price_desc", "created_at"]);
export const bidSort = z
  .enum([...orderSort.options, "seller_net_asc", "seller_net_desc"])
  .meta({ description: "`seller_net_…`: by what the seller receives, `sellerNetWei`." });

/** Status of a list's orders. */
export const listedStatus = z
  .enum([...orderStatuses, "all"])
  .default("active")
  .meta({
    description:
      "Status at the time of the request. `filled`, `expired`, `cancelled` and `all` list the orders of a `maker` or a `token_id`. `expired`, `cancelled` and other orders that ended without a fill are listed until 30 days after their end time.",
  });

export const flag = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .meta({ override: documentAs({ type: "boolean", enum: undefined }) });

/** Of rankings. */
export const excludeWash = flag.default(false).meta({
  description:
    "Sorts by volume and sales without wash trades. Figures shown stay the same; `washVolumeWei` and `washSales` tell the part.",
  override: documentAs({ type: "boolean", enum: undefined, default: false }),
});

/** Comma-separated types of activity. */
export const activityTypeList = commaList(1_000)
  .transform((words) => [...new Set(words)].sort())
  .pipe(z.array(z.enum(activityTypes)))
  .meta({
    description: `Event types, comma-separated: ${activityTypes.join(", ")}. \`listing\` and \`offer\` are orders submitted here; listings of partner marketplaces are not events, and are found at \`/v1/listings\`.`,
    override: {
      type: "string",
      pattern: `^(${activityTypes.join("|")})(,(${activityTypes.join("|")}))*$`,
    },
  });

/** A year that PostgreSQL and ISO 8601 write with four digits. */
const hasPlainYear = (at: Date) => at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999;

const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .refine(hasPlainYear, "must be in the years 1 to 9999 (UTC)");

export const since = moment.meta({ description: "Only rows at or after this ISO 8601 time." });
export const until = moment.meta({ description: "Only rows before this ISO 8601 time." });

const maxTraits = 5;
const maxTraitValues = 20;

/**
 * Traits that a token must all have, in a parameter of the given name. Their types are any text, `__proto__` too. With
 * `hasAlternatives` a type may have several values, of which a token must have one.
 */
export function traitFilter(
  name: "traits" | "attributes",
  { more = "", hasAlternatives = true } = {},
) {
  const again = hasAlternatives ? "; a type again: either value" : "";
  return z
    .unknown()
    .transform((asked, context) => traitsOf(asked, context, hasAlternatives))
    .meta({
      description: `\`${name}[<type>]=<value>\`; at most ${maxTraits}, all must match${again}. ${more}Types ignore case and spacing, values are those of the token's \`attributes\`.`,
      param: { style: "deepObject", explode: true },
      override: {
        type: "object",
        propertyNames: { type: "string", maxLength: maxTypeLength },
        additionalProperties: { type: "string", maxLength: maxValueLength },
      },
    });
}

const maxTypeLength = 200;
const maxValueLength = 500;
const trait = z.tuple([text(maxTypeLength), text(maxValueLength)]);

function traitsOf(
  asked: unknown,
  context: z.RefinementCtx,
  hasAlternatives: boolean,
): (readonly [string, string])[] {
  const refuse = (message: string, path: string[] = []) => {
    context.addIssue({ code: "custom", message, path });
    return z.NEVER;
  };
  if (typeof asked !== "object" || asked === null || Array.isArray(asked))
    return refuse(`must be written ${"`name[<type>]=<value>`"}`);
  const entries = Object.entries(asked);
  if (entries.length > maxTraits) return refuse(`must be at most ${maxTraits}`);
  const traits = entries.flatMap(([type, value]) =>
    hasAlternatives && Array.isArray(value)
      ? [...new Set(value)].map((one) => [type, one] as const)
      : [[type, value] as const],
  );
  if (traits.length > maxTraitValues) return refuse(`must be at most ${maxTraitValues} values`);
  return traits.map((one) => {
    const parsed = trait.safeParse(one);
    if (parsed.success) return parsed.data;
    return refuse(parsed.error.issues[0]?.message ?? "is no trait", [
      one[0].slice(0, maxTypeLength),
    ]);
  });
}

/** What is below one wei: a lower bound is rounded up, an upper one down, so that both mean what they say. */
type Rounding = "up" | "down";

const decimals = 18;
const weiDigits = 78;

/** A decimal number as JSON, HTML forms and people write it: `1.25`, `.5`, `1e-7`. Undefined: it is none, or too large. */
function weiOf(text: string, rounding: Rounding): bigint | undefined {
  const [, whole = "", fraction = "", exponent = "0"] =
    /^(?=\.?\d)(\d{0,78})\.?(\d{0,400})(?:e([+-]?\d{1,3}))?$/i.exec(text) ?? [];
  if (whole + fraction === "") return undefined;
  const shift = decimals + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0n;
  if (shift >= 0) {
    if (shift > weiDigits) return undefined;
    return bounded(digits * 10n ** BigInt(shift));
  }
  const unit = 10n ** BigInt(-shift);
  const isExact = digits % unit === 0n;
  return bounded(digits / unit + (rounding === "up" && !isExact ? 1n : 0n));
}

const bounded = (wei: bigint) => (wei < 10n ** BigInt(weiDigits) ? wei : undefined);

const toWei = (rounding: Rounding) => (text: string, context: z.RefinementCtx) => {
  const wei = weiOf(text, rounding);
  if (wei !== undefined) return wei;
  context.addIssue({ code: "custom", message: "must be a price such as 1.25" });
  return z.NEVER;
};

/** Wei, from a query parameter in ETH or APE. */
export const nativeAmount = (rounding: Rounding) =>
  z
    .string()
    .transform(toWei(rounding))
    .meta({ override: { type: "number", minimum: 0 } });

/** Wei, from a field of a body in ETH or APE. A JSON number counts as its shortest decimal form. */
export const maxNativeAmount = z
  .union([z.string(), z.number()])
  .transform((value, context) => toWei("down")(String(value), context));

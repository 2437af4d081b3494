import { z } from "zod";
import type { Coverage } from "#api/orders/criteria.ts";
import type { CriteriaTrait } from "#projections/domain/orders/order-terms.ts";
import { maxCriteriaTokens } from "#projections/domain/seaport/criteria.ts";
import type { BidRow } from "#projections/orders/read-bids.ts";
import { text, tokenId } from "../parameters.ts";
import { hash, uint256Text } from "../wire.ts";

const tokenIds = z.array(tokenId).min(1).max(maxCriteriaTokens);

const maxTraits = 5;
const type = text(200).meta({ description: "In any case and spacing." });
const number = z.string().regex(/^-?\d{1,30}(\.\d{1,30})?$/, "must be a decimal number");
const bounds = z
  .strictObject({ type, min: number.nullish(), max: number.nullish() })
  .refine(({ min, max }) => Boolean(min ?? max), "needs `min` or `max`");

const trait = z
  .union([z.strictObject({ type, value: text(500) }), bounds], {
    error: "must be {type, value}, or {type, min, max} with one of both at least",
  })
  .transform(
    (one): CriteriaTrait =>
      "value" in one ? one : { type: one.type, min: one.min ?? null, max: one.max ?? null },
  )
  .meta({
    description: "A value as text, or numbers from `min` to `max`, both included.",
  });

/** What a bid on several tokens of a contract is sent with: the order holds their Merkle root alone. */
export const criteriaRequest = z
  .strictObject({
    tokenIds: tokenIds.optional().meta({ description: "Each once, in any order." }),
    traits: z.array(trait).min(1).max(maxTraits).optional().meta({
      description:
        "Tokens that have all of these traits; `tokenIds` then names which of them, if not all.",
    }),
  })
  .refine(({ tokenIds, traits }) => tokenIds !== undefined || traits !== undefined, {
    message: "must name tokens or traits",
  })
  .meta({ id: "CriteriaRequest" });

/** A list of the most tokens, in JSON: their digits, quotes and commas. */
export const criteriaBodyLimits = { maxBytes: 820_000, maxValues: maxCriteriaTokens + 50 };

const root = hash.meta({
  description:
    "Merkle root of the tokens: the order's `identifierOrCriteria`, as a number. Leaves are keccak256(uint256 id), pairs are hashed in ascending order.",
});

const tokenCount = z.int().min(1).meta({ description: "Tokens under the root." });
const traits = z
  .array(
    z.union([
      z.object({ type: z.string(), value: z.string() }),
      z.object({ type: z.string(), min: z.string().nullable(), max: z.string().nullable() }),
    ]),
  )
  .nullable()
  .meta({
    description:
      "Of kind `trait`: the traits, all of which each token had when the bid was submitted. Null of kind `token-list`.",
  });

/** The tokens of a bid on several. */
export const BidCriteria = z
  .object({
    root,
    tokenCount,
    traits,
    matchingCount: z.int().min(0).nullable().meta({
      description:
        "Of kind `trait`: how many of the tokens have the traits now, since metadata changes and the root does not. Null of kind `token-list`.",
    }),
  })
  .meta({ id: "BidCriteria" });

export function presentCriteria({
  criteria,
  criteriaTokens,
  traits,
  matchingTokens,
}: BidRow): z.output<typeof BidCriteria> | null {
  if (criteria === null) return null;
  const matchingCount = matchingTokens === null ? null : Number(matchingTokens);
  const shown = traits?.map((one) => ({ ...one })) ?? null;
  return { root: criteria, tokenCount: criteriaTokens ?? 1, traits: shown, matchingCount };
}

/** The tokens that a bid would be on, to be sent with the order. */
export const CriteriaCoverage = z
  .object({
    root,
    tokenCount,
    traits,
    tokenIds: z.array(uint256Text).meta({ description: "By id." }),
    existing: z.int().min(0).meta({ description: "How many of them are minted and not burned." }),
  })
  .meta({ id: "CriteriaCoverage" });

export function presentCoverage(coverage: Coverage): z.output<typeof CriteriaCoverage> {
  const { criteria, tokenIds, existing } = coverage;
  return {
    root: criteria.root,
    tokenCount: tokenIds.length,
    traits: criteria.traits?.map((one) => ({ ...one })) ?? null,
    tokenIds: tokenIds.map(String),
    existing,
  };
}

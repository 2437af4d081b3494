import { z } from "zod";
import { type IntakeCode, intakeCodes } from "#projections/domain/intake-codes.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { PricedItem } from "#api/orders/price-item.ts";
import type { BodyLimits } from "#api/http/body.ts";
import { presentPriced, pricedFields } from "#api/serve/views/orders/order-terms.ts";
import { address, standardName, uint256Text } from "#api/serve/views/wire.ts";
import { uint256 } from "../routing/parameters.ts";

/** Rejection codes of the endpoints that return what to sign. */
export const requirementRefusals = {
  bad_structure: 422,
  unsupported_chain: 422,
  rpc_unavailable: 422,
} as const;

/** Enough for the maximum number of items. */
export const itemsBodyLimits: BodyLimits = { maxBytes: 64 * 1024, maxValues: 1_000 };

export const units = z
  .int()
  .min(1)
  .transform(BigInt)
  .meta({ description: "Units; 1 for ERC-721.", override: { type: "integer", minimum: 1 } });

export const wei = uint256.meta({
  description: "For one unit, decimal.",
  override: { type: "string", pattern: "^(0|[1-9][0-9]*)$" },
});

const codes = Object.keys(intakeCodes) as [IntakeCode, ...IntakeCode[]];
const retries = [...new Set(Object.values(intakeCodes).map(({ retry }) => retry))];

/** Why an order would be refused, if it would be. */
export const blockedFields = {
  blocked: z.enum(codes).nullable().meta({
    description:
      "The code that submitting the order would be rejected with, even with the required approval.",
  }),
  message: z.string().nullable(),
  retry: z.enum(retries).nullable().meta({ description: "What the maker can do about it." }),
};

/** Fields of the requirements of one item, on both sides. */
export const requirementFields = {
  contract: address,
  quantity: z.int().min(1),
  standard: standardName.nullable(),
  ...pricedFields,
  ...blockedFields,
};

/** Fields of the requirements as a whole, on both sides. */
export const marketFields = {
  maker: address,
  seaport: address.meta({ description: "The exchange." }),
  feeRecipient: address,
  feeBps: z.int().min(0),
  counter: uint256Text.meta({ description: "The maker's, to be signed." }),
};

/** What the requirements of one item have in common on both sides. */
export function presentRequirement(
  requirement: PricedItem & { blocked: Rejection<IntakeCode> | null },
  priced: Parameters<typeof presentPriced>[1],
) {
  return { ...presentPriced(requirement, priced), ...presentBlocked(requirement.blocked) };
}

export function presentBlocked(blocked: Rejection<IntakeCode> | null) {
  return {
    blocked: blocked?.rejected ?? null,
    message: blocked?.message ?? null,
    retry: blocked === null ? null : intakeCodes[blocked.rejected].retry,
  };
}

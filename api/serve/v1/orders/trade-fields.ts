import { z } from "zod";
import {
  type IntakeCode,
  intakeCodes,
} from "../../../../projections/domain/orders/intake-codes.ts";
import type { Rejection } from "../../../../projections/domain/rejection.ts";
import { pricedParts } from "../../views/order-terms.ts";
import { address, standardName, uint256Text } from "../../views/wire.ts";
import { uint256 } from "../parameters.ts";

/** Codes of the endpoints that tell makers what to sign. */
export const tradeRefusals = {
  bad_structure: 422,
  unsupported_chain: 422,
  rpc_unavailable: 422,
} as const;

/** Large enough for the longest list of items. */
export const itemsBodyBytes = 64 * 1024;

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

/** What every row of requirements tells. */
export const requirementFields = {
  contract: address,
  quantity: z.int().min(1),
  standard: standardName.nullable(),
  ...pricedParts,
  blocked: z.enum(codes).nullable().meta({
    description:
      "The code that intake would refuse the order with, though what is to be approved were approved.",
  }),
  message: z.string().nullable(),
  retry: z.enum(retries).nullable().meta({ description: "What can be done about it." }),
};

/** What every answer of requirements tells. */
export const marketFields = {
  maker: address,
  seaport: address.meta({ description: "The exchange." }),
  feeRecipient: address,
  feeBps: z.int().min(0),
  counter: uint256Text.meta({ description: "The maker's, to be signed." }),
};

export function presentBlocked(blocked: Rejection<IntakeCode> | null) {
  return {
    blocked: blocked?.rejected ?? null,
    message: blocked?.message ?? null,
    retry: blocked === null ? null : intakeCodes[blocked.rejected].retry,
  };
}

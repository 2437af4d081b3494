import type { Hex } from "viem";
import { z } from "zod";

export const txHash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be a transaction hash")
  .transform((text) => text.toLowerCase() as Hex)
  .nullish()
  .meta({
    description: "A transaction that ended the order: its receipt proves it at once.",
    override: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" },
  });

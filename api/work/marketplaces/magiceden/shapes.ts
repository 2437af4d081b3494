import type { Hex } from "viem";
import { z } from "zod";
import { bytes32, orderComponents, signatureOrNone } from "../order-schema.ts";

/** What is used of `GET /{chain}/orders/asks/v5` (Reservoir, third version), and no more. */
export const AsksAnswer = z.object({
  orders: z.array(z.unknown()),
  continuation: z
    .string()
    .nullish()
    .transform((text) => text || null),
});

/** What tells whether an entry is one of those that are read at all. */
export const AskHead = z.object({
  id: bytes32,
  kind: z.string(),
  side: z.string().optional(),
  status: z.string(),
  source: z.object({ domain: z.string().nullish() }).nullish(),
});

/** The order itself, where raw data is asked for. */
export const RawAsk = z.object({ rawData: orderComponents.extend({ signature: signatureOrNone }) });

/** The hash of an entry that is otherwise unreadable. */
export function statedHash(entry: unknown): Hex | null {
  return z.object({ id: bytes32 }).safeParse(entry).data?.id ?? null;
}

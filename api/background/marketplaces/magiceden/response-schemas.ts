import type { Hex } from "viem";
import { z } from "zod";
import { bytes32 } from "#api/background/order-input/order-schema.ts";
import { orderComponents, signatureOrNone } from "../partner-order-schema.ts";

/** The fields used of `GET /{chain}/orders/asks/v5` (Reservoir, third version). */
export const AsksResponse = z.object({
  orders: z.array(z.unknown()),
  continuation: z
    .string()
    .nullish()
    .transform((text) => text || null),
});

/** The fields that decide whether an entry is parsed. */
export const AskHead = z.object({
  id: bytes32,
  kind: z.string(),
  side: z.string().optional(),
  status: z.string(),
  source: z.object({ domain: z.string().nullish() }).nullish(),
});

/** The order itself, with `includeRawData`. */
export const RawAsk = z.object({ rawData: orderComponents.extend({ signature: signatureOrNone }) });

/** The hash of an entry that does not parse otherwise. */
export function statedHash(entry: unknown): Hex | null {
  return z.object({ id: bytes32 }).safeParse(entry).data?.id ?? null;
}

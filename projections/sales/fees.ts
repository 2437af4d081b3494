import type { Address } from "viem";
import { feeRecipients } from "./attribution.ts";
import type { Leg } from "./pricing.ts";

export type Fee = {
  readonly recipient: Address;
  readonly wei: bigint;
  /** Of the sale's total, rounded. */
  readonly bps: number;
  readonly kind: "service" | "royalty" | "other";
};

export const BPS = 10_000n;

/** No royalty is larger; a leg above it went to somebody else. */
export const ROYALTY_MAX_BPS = 1_000;

/** What did not reach the seller: to a marketplace's known recipient it is a service fee, else a royalty up to 10 %. */
export function feesOf(legs: readonly Leg[], totalWei: bigint, nativeRecipient: Address): Fee[] {
  return legs.map(({ recipient, wei }) => {
    const bps = totalWei === 0n ? 0 : Number((wei * BPS + totalWei / 2n) / totalWei);
    return { recipient, wei, bps, kind: kindOf(recipient, bps, nativeRecipient) };
  });
}

function kindOf(recipient: Address, bps: number, nativeRecipient: Address): Fee["kind"] {
  if (recipient === nativeRecipient || feeRecipients.has(recipient)) return "service";
  return bps <= ROYALTY_MAX_BPS ? "royalty" : "other";
}

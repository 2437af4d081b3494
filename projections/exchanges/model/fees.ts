import type { Address } from "viem";
import { feeRecipients } from "./attribution.ts";
import type { FeePayment } from "./trade.ts";

export type Fee = FeePayment & {
  /** Of the sale's total, rounded. */
  readonly bps: number;
  readonly kind: "service" | "royalty" | "other";
};

export const BPS = 10_000n;

/** No royalty is larger; a payment above it is something else. */
export const ROYALTY_MAX_BPS = 1_000;

/** A payment to a marketplace's known recipient is a service fee, another one a royalty up to 10 %. */
export function classifyFees(
  payments: readonly FeePayment[],
  totalWei: bigint,
  nativeRecipient: Address,
): Fee[] {
  return payments.map(({ recipient, wei }) => {
    const bps = totalWei === 0n ? 0 : Number((wei * BPS + totalWei / 2n) / totalWei);
    return { recipient, wei, bps, kind: feeKind(recipient, bps, nativeRecipient) };
  });
}

function feeKind(recipient: Address, bps: number, nativeRecipient: Address): Fee["kind"] {
  if (recipient === nativeRecipient || feeRecipients.has(recipient)) return "service";
  return bps <= ROYALTY_MAX_BPS ? "royalty" : "other";
}

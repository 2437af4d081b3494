import type { Address } from "viem";
import { feeRecipients } from "./attribution.ts";
import type { FeePayment } from "./trade.ts";

export type Fee = FeePayment & {
  /** Of the sale's total, rounded. */
  readonly bps: number;
  /** Which of the others are royalties depends on the collection: `projections/sql/sale-fees.ts`. */
  readonly kind: "service" | "other";
};

export const BPS = 10_000n;

/** A payment to a marketplace's known recipient is a service fee. */
export function classifyFees(
  payments: readonly FeePayment[],
  totalWei: bigint,
  nativeRecipient: Address,
): Fee[] {
  return payments.map(({ recipient, wei }) => {
    const bps = totalWei === 0n ? 0 : Number((wei * BPS + totalWei / 2n) / totalWei);
    return { recipient, wei, bps, kind: feeKind(recipient, nativeRecipient) };
  });
}

function feeKind(recipient: Address, nativeRecipient: Address): Fee["kind"] {
  return recipient === nativeRecipient || feeRecipients.has(recipient) ? "service" : "other";
}

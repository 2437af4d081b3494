import type { Address } from "viem";
import { BPS } from "./fees.ts";
import type { FeePayment } from "./trade.ts";

/** A share of a price, in hundredths of a percent. */
export type FeeRate = { readonly recipient: Address; readonly rate: bigint };

/** The payments that rates of a price come to; none for a rate of zero. */
export function paymentsOf(rates: readonly FeeRate[], wei: bigint): FeePayment[] {
  return rates
    .map(({ recipient, rate }) => ({ recipient, wei: (wei * rate) / BPS }))
    .filter((payment) => payment.wei > 0n);
}

export function totalOf(payments: readonly FeePayment[]): bigint {
  return payments.reduce((sum, { wei }) => sum + wei, 0n);
}

import type { Address, Hex } from "viem";
import { type Marketplace, marketplaces } from "#projections/domain/marketplaces.ts";
import type { FeePayment } from "./exchange.ts";

export type Fee = FeePayment & {
  /** Of the sale's total, rounded. */
  readonly bps: number;
  /** Which of the others are royalties depends on the collection: `projections/sales/read-sale.ts`. */
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

/** `wei` in parts proportional to `weights` (equal ones if all are zero), the remainder on the first. */
export function apportion(wei: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.length === 1) return [wei];
  const sum = weights.reduce((total, weight) => total + weight, 0n);
  const parts = weights.map((weight) =>
    sum === 0n ? wei / BigInt(weights.length) : (wei * weight) / sum,
  );
  const remainder = wei - parts.reduce((total, part) => total + part, 0n);
  return parts.map((part, index) => (index === 0 ? part + remainder : part));
}

function wireNamesBy<Key>(
  keys: (marketplace: Marketplace) => readonly Key[],
): ReadonlyMap<Key, string> {
  return new Map(
    marketplaces.flatMap((each) => keys(each).map((key) => [key, each.wire] as const)),
  );
}

/** Wire names of marketplaces by what gives them away. */
export const feeRecipients = wireNamesBy<Address>((each) => each.feeRecipients);
export const zones = wireNamesBy<Address>((each) => each.zones);
export const calldataTags = wireNamesBy<Hex>((each) => each.calldataTags);

type AttributionHints = {
  /** Who received fees, in log order. */
  readonly recipients: readonly Address[];
  readonly zones: readonly Address[];
  readonly calldataTail: Hex | null;
};

/** The marketplace of a sale: by who received a fee, else by zone, else by the calldata's tag. */
export function attributeMarketplace(
  hints: AttributionHints,
  nativeRecipient: Address,
): string | undefined {
  for (const recipient of hints.recipients) {
    const marketplace = recipient === nativeRecipient ? "native" : feeRecipients.get(recipient);
    if (marketplace) return marketplace;
  }
  for (const zone of hints.zones) {
    const marketplace = zones.get(zone);
    if (marketplace) return marketplace;
  }
  return hints.calldataTail ? calldataTags.get(hints.calldataTail) : undefined;
}

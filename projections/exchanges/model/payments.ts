import type { Address } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { FeePayment } from "./trade.ts";

/** Logs of a transaction, without both ends. */
export type LogRange = { readonly after: number; readonly before: number };

export type PaymentFilter = LogRange & {
  readonly currency?: Address;
  readonly from?: Address;
  readonly to?: Address;
};

/** Transfers of coins in a range of a transaction's logs. */
export function payments(
  transfers: readonly TokenTransfer[],
  { after, before, currency, from, to }: PaymentFilter,
): TokenTransfer[] {
  return transfers.filter(
    (one) =>
      one.tokenId === null &&
      one.logIndex > after &&
      one.logIndex < before &&
      (currency === undefined || one.contract === currency) &&
      (from === undefined || one.from === from) &&
      (to === undefined || one.to === to),
  );
}

/** Transfers of NFTs in a range of a transaction's logs. */
export function nftTransfers(
  transfers: readonly TokenTransfer[],
  { after, before }: LogRange,
): (TokenTransfer & { tokenId: string })[] {
  return transfers.filter(
    (one): one is TokenTransfer & { tokenId: string } =>
      one.tokenId !== null && one.logIndex > after && one.logIndex < before,
  );
}

export function sumOfAmounts(transfers: readonly TokenTransfer[]): bigint {
  return transfers.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

type Payment = {
  readonly buyer: Address;
  readonly seller: Address;
  readonly currency: Address;
  /** What the event says: without the fees that the buyer pays on top. */
  readonly wei: bigint;
};

/**
 * What the buyer pays in coins in all, and the fees in it: his transfers that follow the one to the seller. The event's
 * amount where no log tells, which is so of ether.
 */
export function withFeesOnTop(
  transfers: readonly TokenTransfer[],
  range: LogRange,
  { buyer, seller, currency, wei }: Payment,
): { totalWei: bigint; fees: FeePayment[] } {
  const paid = payments(transfers, { ...range, currency, from: buyer });
  const first = paid.findIndex(({ to, amount }) => to === seller && BigInt(amount) === wei);
  if (first < 0) return { totalWei: wei, fees: [] };
  const onTop = paid.slice(first + 1).filter(({ to }) => to !== seller);
  return {
    totalWei: wei + sumOfAmounts(onTop),
    fees: onTop.map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) })),
  };
}

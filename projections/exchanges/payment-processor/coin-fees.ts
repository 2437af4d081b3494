import { zeroAddress } from "viem";
import type { TokenTransfer } from "#projections/facts/token-transfer.ts";
import type { FeePayment, Trade } from "../model/trade.ts";

/**
 * What a coin's transfers show: the legs that leave the buyer, or the caller for him, and do not reach the seller. None
 * where the legs do not add up to the price, and for native money, whose parts no log tells.
 */
export function coinFees(
  { items, currency, totalWei, logIndex }: Trade,
  transfers: readonly TokenTransfer[],
  after: number,
): FeePayment[] {
  const [item] = items;
  if (currency === zeroAddress || item === undefined) return [];
  const payers = [item.buyer, item.via];
  const legs = transfers.filter(
    (one) =>
      one.contract === currency &&
      one.logIndex > after &&
      one.logIndex < logIndex &&
      payers.includes(one.from),
  );
  const paid = legs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  if (paid !== totalWei) return [];
  return legs
    .filter(({ to }) => to !== item.seller)
    .map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) }));
}

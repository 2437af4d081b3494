import { type Address, zeroAddress } from "viem";
import { type ChainId, chainIds, wrappedNative } from "../../abis/deployments.ts";
import { isNft, type SpentItem } from "./order-facts.ts";

const wrapped: ReadonlySet<string> = new Set(chainIds.map((id: ChainId) => wrappedNative[id]));

/** The native currency is the zero address. */
export function isCurrency(item: SpentItem): boolean {
  return !isNft(item);
}

/** Wei of `currency` in the items. The native currency and its wrapped form count as one. */
export function sumOf(items: readonly SpentItem[], currency: Address): bigint {
  let sum = 0n;
  for (const item of items) if (isPaidIn(item, currency)) sum += BigInt(item.amount);
  return sum;
}

export function isPaidIn(item: SpentItem, currency: Address): boolean {
  return isCurrency(item) && canonical(item.token) === canonical(currency);
}

function canonical(currency: Address): Address {
  return wrapped.has(currency) ? zeroAddress : currency;
}

/** `wei` in parts proportional to `weights` (equal ones if all are zero), the remainder on the first. */
export function apportion(wei: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.length === 1) return [wei];
  const sum = weights.reduce((total, weight) => total + weight, 0n);
  const parts = weights.map((weight) =>
    sum === 0n ? wei / BigInt(weights.length) : (wei * weight) / sum,
  );
  const rest = wei - parts.reduce((total, part) => total + part, 0n);
  return parts.map((part, index) => (index === 0 ? part + rest : part));
}

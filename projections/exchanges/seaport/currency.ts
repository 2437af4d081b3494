import { type Address, zeroAddress } from "viem";
import { type ChainId, chainIds, wrappedNative } from "#chains/index.ts";
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

import { type Address, formatEther, zeroAddress } from "viem";
import { z } from "zod";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById, chainIds, wrappedNative } from "#chains/index.ts";
import { documentAs } from "../http/query.ts";

/** Formats every payload shares. Addresses and hashes are lower case on the way out. */
export const address = z.string().regex(/^0x[0-9a-f]{40}$/);
export const hash = z.string().regex(/^0x[0-9a-f]{64}$/);
export const uint256Text = z.string().regex(/^(0|[1-9][0-9]*)$/);
/** Beside a number of units, which is rounded beyond 2^53. */
export const exactUnits = uint256Text.meta({
  id: "ExactUnits",
  description: "Exact: JSON's numbers are rounded beyond 2^53.",
});
export const time = z.iso.datetime();
export const chainIdValue = z.literal(chainIds).meta({
  override: documentAs({ type: "integer", enum: [...chainIds], anyOf: undefined }),
});
export const standardName = z.enum(["erc721", "erc1155"]);

export const collectionRef = z
  .object({ address, slug: z.string().nullable(), name: z.string().nullable() })
  .meta({ id: "CollectionRef" });

export const currency = z
  .object({
    symbol: z.string().nullable().meta({
      description:
        "Null: neither the native nor the wrapped native currency; its decimals are unknown.",
    }),
    address,
  })
  .meta({ id: "Currency" });

/** Describes a price that may be paid in any currency. */
export const priceText =
  "Per unit: `priceWei` divided by 10^18. Only meaningful where `currency.symbol` is not null.";

/** The standard's name of its number. */
export function nameStandard(standard: 721 | 1155): "erc721" | "erc1155" {
  return standard === 721 ? "erc721" : "erc1155";
}

/** Symbols of a chain's currency and of its wrapped form. */
function symbolsOf(chainId: ChainId) {
  const { coin, wrapped } = chainById(chainId);
  return { native: currencies[coin].symbol, wrapped: wrapped.symbol };
}

/** A price's currency; only the native and the wrapped native currency have a symbol. */
export function presentCurrency(chainId: ChainId, address: Address) {
  const { native, wrapped } = symbolsOf(chainId);
  if (address === zeroAddress) return { symbol: native, address };
  return { symbol: address === wrappedNative[chainId] ? wrapped : null, address };
}

/** The address of a symbol of `presentCurrency`; undefined for another one. */
export function currencyOfSymbol(chainId: ChainId, symbol: string): Address | undefined {
  const { native, wrapped } = symbolsOf(chainId);
  if (symbol === native) return zeroAddress;
  return symbol === wrapped ? wrappedNative[chainId] : undefined;
}

/**
 * `wei` divided by 10^18, for display; the exact amount is the wei field next to it. Other currencies than the native
 * and the wrapped native one have decimals of their own, which are unknown: of them it says nothing.
 */
export function displayAmount(wei: bigint): number {
  return Number(formatEther(wei));
}

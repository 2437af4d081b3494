import { type Address, formatEther } from "viem";
import { z } from "zod";
import { currencies } from "#chains/coins.ts";
import { type ChainId, chainById } from "#chains/index.ts";

type Currency = { readonly symbol: string | null; readonly address: Address | string };

/** An exact amount with its unit: `1.5 ETH`; of currencies whose decimals are unknown in their smallest unit. */
export function amountText(wei: string | bigint, { symbol, address }: Currency): string {
  return symbol === null
    ? `${wei} smallest units of ${address}`
    : `${formatEther(BigInt(wei))} ${symbol}`;
}

/** The symbol of the chain's own currency. */
const coinOf = (chainId: ChainId) => currencies[chainById(chainId).coin].symbol;

/** An exact amount in the chain's own currency. */
export const coinText = (wei: string | bigint, chainId: ChainId) =>
  amountText(wei, { symbol: coinOf(chainId), address: "" });

/** `1234.5 USD`; absent where it is unknown. */
export const usdText = (usd: number | null | undefined) =>
  usd === null || usd === undefined ? undefined : `${usd} USD`;

/** Arguments that several tools have. */
export const collectionArgument = z
  .string()
  .min(1)
  .max(200)
  .describe("Slug or 0x address, as find_collection tells it");
export const tokenIdArgument = z
  .string()
  .regex(/^\d{1,78}$/)
  .describe("Decimal");
export const walletArgument = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .describe("0x address");
export const cursorArgument = z
  .string()
  .max(2_000)
  .optional()
  .describe("`more` of the page before");

export const rowsArgument = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe("Rows");

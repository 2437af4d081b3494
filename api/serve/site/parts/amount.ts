import { formatEther } from "viem";
import { type Html, html } from "#api/serve/html/html.ts";
import { formatNumber, formatUsd, none } from "./number.ts";

/** An amount of a currency. */
type Amount = {
  /** Exact, decimal, in the currency's smallest unit. */
  readonly wei: string | null | undefined;
  /** Null: another currency than the chain's own and its wrapped one, with unknown decimals. */
  readonly symbol: string | null;
  /** Value of the amount shown. */
  readonly usd?: number | null | undefined;
};

/** An amount with its currency, its value in USD beneath, and the exact amount on hover. */
export function amount({ wei, symbol, usd }: Amount): Html {
  if (wei === null || wei === undefined) return none;
  const value = symbol === null ? smallestUnits(wei) : coins(wei, symbol);
  return usd === null || usd === undefined ? value : html`${value} ${usdValue(usd)}`;
}

function coins(wei: string, symbol: string): Html {
  const exact = formatEther(BigInt(wei));
  return html`<data class="amount" value="${wei}" title="${exact} ${symbol} (${wei} wei)">${formatNumber(Number(exact))} <span class="unit">${symbol}</span></data>`;
}

function smallestUnits(units: string): Html {
  return html`<data class="amount" value="${units}" title="${units} smallest units">${formatNumber(Number(units))} <span class="unit">smallest units of another currency</span></data>`;
}

/** The same without its currency, where the column's head has it. */
export function bareAmount(wei: string | null | undefined, symbol: string): Html {
  if (wei === null || wei === undefined) return none;
  const exact = formatEther(BigInt(wei));
  return html`<data class="amount" value="${wei}" title="${exact} ${symbol} (${wei} wei)">${formatNumber(Number(exact))}</data>`;
}

function usdValue(usd: number): Html {
  return html`<span class="usd" title="${usd} USD">${formatUsd(usd)}</span>`;
}

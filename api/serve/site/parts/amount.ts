import { formatEther } from "viem";
import { type Html, html } from "../../html/html.ts";
import { formatNumber, formatUsd, none } from "./number.ts";

/** An amount of a currency. `wei`: exact, decimal. */
type Amount = {
  readonly wei: string | null | undefined;
  readonly symbol: string | null;
  /** Value of the amount shown. */
  readonly usd?: number | null | undefined;
};

/** An amount with its currency, its value in USD beneath, and the exact amount on hover. */
export function amount({ wei, symbol, usd }: Amount): Html {
  if (wei === null || wei === undefined) return none;
  const unit = symbol ?? "of another currency";
  const exact = formatEther(BigInt(wei));
  const value = html`<data class="amount" value="${wei}" title="${exact} ${unit} (${wei} wei)">${formatNumber(Number(exact))} <span class="unit">${unit}</span></data>`;
  return usd === null || usd === undefined ? value : html`${value} ${usdValue(usd)}`;
}

/** The same without its currency, where the column's head has it. */
export function bareAmount(wei: string | null | undefined, symbol: string | null): Html {
  if (wei === null || wei === undefined) return none;
  const exact = formatEther(BigInt(wei));
  return html`<data class="amount" value="${wei}" title="${exact} ${symbol ?? ""} (${wei} wei)">${formatNumber(Number(exact))}</data>`;
}

function usdValue(usd: number | null | undefined): Html {
  if (usd === null || usd === undefined) return none;
  return html`<span class="usd" title="${usd} USD">${formatUsd(usd)}</span>`;
}

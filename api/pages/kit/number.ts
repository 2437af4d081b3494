import { formatEther, zeroAddress } from "viem";
import { presentCurrency } from "#api/v1/wire.ts";
import type { ChainId } from "#chains/index.ts";
import { type Html, html } from "./html.ts";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const thousandths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const significant = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const percents = new Intl.NumberFormat("en-US", {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});
const usdOf = (digits: number) =>
  new Intl.NumberFormat("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
const [wholeUsd, cents] = [usdOf(0), usdOf(2)];
const shares = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 2 });

/** Most counts are small, and are written as they are. */
export const formatCount = (count: number): string =>
  Number.isInteger(count) && count >= 0 && count < 1_000 ? String(count) : whole.format(count);

/** `1 day`, `7 days`. */
export const counted = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Four digits or more, by size: what is shown beside the exact value. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(3);
  if (size >= 100_000) return whole.format(value);
  if (size >= 1_000) return tenths.format(value);
  if (size >= 1) return thousandths.format(value);
  return significant.format(value);
}

function formatUsd(usd: number): string {
  if (Math.abs(usd) >= 1e15) return `$${usd.toExponential(3)}`;
  if (usd !== 0 && Math.abs(usd) < 0.01) return "< $0.01";
  return (Math.abs(usd) >= 1_000 ? wholeUsd : cents).format(usd);
}

/** A part of a whole. */
export const formatShare = (share: number): string => shares.format(share);

/** A change as a fraction, with its direction in words for those who do not see the colour. */
export function change(fraction: number | null): Html {
  if (fraction === null) return none;
  if (fraction === 0) return html`<span class="quiet">0%</span>`;
  const isUp = fraction > 0;
  return html`<span class="${isUp ? "up" : "down"}"><span aria-hidden="true">${isUp ? "▲" : "▼"}</span> ${percents.format(fraction)}</span>`;
}

/** Where there is no value. */
export const none: Html = html`<span class="none" aria-hidden="true">–</span><span class="unseen">none</span>`;

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

/** Symbol of a chain's own coin. */
export function coinSymbol(chainId: ChainId): string {
  return presentCurrency(chainId, zeroAddress).symbol ?? "";
}

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/**
 * A time relative to `now`, with the exact one on hover. The page's script keeps it current. Null: the page is of an earlier
 * moment, and its times are exact.
 */
export function moment(iso: string | null | undefined, now: Date | null): Html {
  if (iso === null || iso === undefined) return html`<span class="quiet">unknown</span>`;
  if (now === null) return html`<time datetime="${iso}">${exactTime(iso)}</time>`;
  return html`<time datetime="${iso}" title="${exactTime(iso)}" data-relative>${relative(iso, now)}</time>`;
}

/** `2026-11-23 09:00:00 UTC`; years beyond 9999, which orders may name, as they are. */
export function exactTime(iso: string): string {
  return `${iso.replace("T", " ").replace(/(\.\d+)?Z$/, "")} UTC`;
}

function relative(iso: string, now: Date): string {
  const seconds = Math.round((Date.parse(iso) - now.getTime()) / 1_000);
  const size = Math.abs(seconds);
  if (size > 3_650 * 86_400) return iso.slice(0, 10);
  const [unit, length] = units.find(([, least]) => size >= least) ?? ["s", 1];
  const count = Math.floor(size / length);
  return seconds > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

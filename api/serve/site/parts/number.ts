import { type Html, html } from "#api/serve/html/html.ts";

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

export function formatUsd(usd: number): string {
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

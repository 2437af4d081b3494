import { type Html, html } from "#api/serve/html/html.ts";

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** A time relative to `now`, with the exact one on hover. The page's script keeps it current. */
export function moment(iso: string | null | undefined, now: Date): Html {
  if (iso === null || iso === undefined) return html`<span class="quiet">unknown</span>`;
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

import { type Html, html } from "#api/serve/html/html.ts";
import { formatCount } from "./number.ts";

type Cut = {
  /** What is shown. */
  readonly which: "first" | "newest";
  readonly shown: number;
  readonly total: number | undefined;
  readonly noun?: string;
};

/** Below a list of which the page shows a part: how much of it. */
export function cutNote({ which, shown, total = shown, noun }: Cut): Html | false {
  if (total <= shown) return false;
  const all = noun === undefined ? formatCount(total) : `${formatCount(total)} ${noun}`;
  return html`<p class="about">The ${which} ${formatCount(shown)} of ${all}.</p>`;
}

import type { z } from "zod";
import { type Html, html } from "../../html/html.ts";
import type { archivedTo } from "../../views/archived-to.ts";
import { exactTime } from "./moment.ts";
import { formatCount } from "./number.ts";

/** Below a list: what it leaves out, where old events have left the database for archives. */
export function archivedNote(border: z.output<typeof archivedTo> | undefined): Html | false {
  if (border === undefined) return false;
  const { blockNumber, timestamp } = border;
  return html`<p class="about">Transfers, mints and burns up to block ${formatCount(blockNumber)}, ${exactTime(timestamp)}, may be in archives alone, and are then not shown here. Sales, cancels and orders are all there.</p>`;
}

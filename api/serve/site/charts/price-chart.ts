import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { Sale } from "#api/serve/views/sale.ts";
import { counted } from "../parts/number.ts";
import { table } from "../parts/table.ts";
import { height, place, plot, width } from "./plot.ts";
import { roundScale } from "./scale.ts";

type SaleRow = z.output<typeof Sale>;
type Options = { readonly id: string; readonly now: Date };

/** Sales over time as dots on a line, of those in the chain's own or wrapped coin. `sales`: newest first. */
export function priceChart(sales: readonly SaleRow[], { id, now }: Options): Html {
  const priced = sales.filter(({ currency }) => currency.symbol !== null).toReversed();
  const [first, last] = [priced[0], priced.at(-1)];
  if (first === undefined || last === undefined)
    return html`<p class="empty">${sales.length === 0 ? "No sale is known." : "Its sales were paid in other currencies and are not drawn."}</p>`;
  const times = priced.map(({ timestamp }) => Date.parse(timestamp));
  const from = Math.min(...times);
  const to = Math.max(now.getTime(), from + 1);
  const scale = roundScale(
    priced.map(({ price }) => price),
    { withZero: true },
  );
  const unit = (first.currency.symbol ?? "").replace(/^W/, "");
  const points = priced.map(({ price, timestamp }) => {
    const x = ((Date.parse(timestamp) - from) / (to - from)) * width;
    return [x, height * (1 - scale.at(price))] as const;
  });
  const line = points.map(([x, y]) => `${place(x)} ${place(y)}`).join("L");
  return plot({
    id,
    label: `${counted(priced.length, "sale")}, the last for ${last.price} ${last.currency.symbol}`,
    scale,
    unit,
    legend: [["dot", "A sale"]],
    shapes: [
      html`<path class="line" d="M${line}"/>`,
      html`<path class="dots" d="${points.map(([x, y]) => `M${place(x)} ${place(y)}h0`).join("")}"/>`,
      ...points.map(([x]) => html`<g data-at="${place(x / width)}"/>`),
    ],
    below: [from, (from + to) / 2, to].map((time, index) => {
      const text = axisTime(time, to - from);
      return index === 0 ? `${text} UTC` : text;
    }),
    table: table(
      priced,
      [
        {
          head: "Sold (UTC)",
          cell: ({ timestamp }) => timestamp.slice(0, 19).replace("T", " "),
          isHead: true,
        },
        { head: "Price", cell: ({ price }) => String(price), isNumber: true },
        { head: "Currency", cell: ({ currency }) => currency.symbol },
        { head: "Units", cell: ({ quantity }) => quantity, isNumber: true },
      ],
      { caption: "Sales", isCaptionShown: true, keyOf: ({ saleId }) => saleId },
    ),
  });
}

const dayMs = 86_400_000;

/** The day, and the minute where all of them are within three days. UTC. */
function axisTime(time: number, rangeMs: number): string {
  const text = new Date(time).toISOString();
  return rangeMs > 3 * dayMs ? text.slice(0, 10) : text.slice(5, 16).replace("T", " ");
}

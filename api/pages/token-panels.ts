import type { z } from "zod";
import type { uncountedMeta } from "../http/page.ts";
import type { ActivityItem } from "../v1/activity.ts";
import type { Bid } from "../v1/orders/bids.ts";
import type { Listing } from "../v1/orders/listings.ts";
import type { Sale } from "../v1/sales.ts";
import { activityTable, liveSwitch } from "./kit/activity-table.ts";
import { type Html, html } from "./kit/html.ts";
import { counted } from "./kit/number.ts";
import { bidsTable, listingsTable } from "./kit/orders-table.ts";
import { cutNote, panel, table } from "./kit/panel.ts";
import { height, markAt, place, plot, roundScale, timeTicks, width } from "./kit/plot.ts";
import { listingPick } from "./trades.ts";

/** The answer of a list's endpoint: its first page. */
type Rows<Row extends z.ZodType, Meta = { readonly total: number }> = {
  readonly data: readonly z.output<Row>[];
  readonly meta?: Meta | undefined;
};

/** Columns that would say the same in every row. */
const without = ["collection", "token"] as const;

/** `picks`: what is done with the picked rows. */
export function listingsPanel({ data, meta }: Rows<typeof Listing>, now: Date, picks: Html): Html {
  const pickOf = (row: z.output<typeof Listing>) => listingPick(null, row.tokenId, row);
  const caption = "Active listings, cheapest first";
  const empty = "Nobody offers it for sale.";
  const note = cutNote({ which: "first", shown: data.length, total: meta?.total });
  return panel({
    id: "listings",
    title: "Listings",
    body: html`${listingsTable(data, { now, caption, without, empty, pickOf })}${note}${picks}`,
  });
}

export function offersPanel({ data, meta }: Rows<typeof Bid>, now: Date): Html {
  const caption = "Active offers on this token, highest first";
  const empty =
    "No offer on this token. “Best offer” above also counts offers on the whole collection.";
  const note = cutNote({ which: "first", shown: data.length, total: meta?.total });
  return panel({
    id: "offers",
    title: "Offers",
    body: html`${bidsTable(data, { now, caption, without, empty })}${note}`,
  });
}

export function pricesPanel({ data, meta }: Rows<typeof Sale>, now: Date): Html {
  const note = cutNote({
    which: "newest",
    shown: data.length,
    total: meta?.total,
    noun: "sales",
  });
  return panel({
    id: "prices",
    title: "Price history",
    body: html`${priceChart(data, { id: "price-chart", now })}${note}`,
  });
}

type ActivityRows = Rows<typeof ActivityItem, z.output<typeof uncountedMeta>>;

/** The list of activity is not counted. */
export function activityPanel({ data, meta }: ActivityRows, now: Date): Html {
  const caption = "Activity of this token";
  const isCut = data.length > 0 && (meta?.next_cursor ?? null) !== null;
  return panel({
    id: "activity",
    title: "What happened",
    aside: liveSwitch,
    body: html`${activityTable(data, { now, caption, without, isLive: true })}${isCut && html`<p class="about">The newest ${counted(data.length, "event")}.</p>`}`,
  });
}

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
      ...points.map(([x, y]) => markAt(x / width, y / height)),
    ],
    below: timeTicks(from, to),
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

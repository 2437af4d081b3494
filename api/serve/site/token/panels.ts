import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import type { uncountedMeta } from "#api/http/page.ts";
import type { ActivityItem } from "#api/serve/views/activity-item.ts";
import type { Bid } from "#api/serve/views/orders/bid.ts";
import type { Listing } from "#api/serve/views/orders/listing.ts";
import type { Sale } from "#api/serve/views/sale.ts";
import { priceChart } from "../charts/price-chart.ts";
import { activityTable, liveSwitch } from "../parts/activity-table.ts";
import { cutNote } from "../parts/cut-note.ts";
import { counted } from "../parts/number.ts";
import { bidsTable, listingsTable } from "../parts/orders-table.ts";
import { panel } from "../parts/panel.ts";

/** The answer of a list's endpoint: its first page. */
type Rows<Row extends z.ZodType, Meta = { readonly total: number }> = {
  readonly data: readonly z.output<Row>[];
  readonly meta?: Meta | undefined;
};

/** Columns that would say the same in every row. */
const without = ["collection", "token"] as const;

export function listingsPanel({ data, meta }: Rows<typeof Listing>, now: Date): Html {
  const caption = "Active listings, cheapest first";
  const empty = "Nobody offers it for sale.";
  const note = cutNote({ which: "first", shown: data.length, total: meta?.total });
  return panel({
    id: "listings",
    title: "Listings",
    body: html`${listingsTable(data, { now, caption, without, empty })}${note}`,
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

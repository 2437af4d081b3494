import type { z } from "zod";
import type { BookDepth } from "#api/v1/collections/depth.ts";
import { type Html, html } from "../kit/html.ts";
import { bareAmount, formatCount } from "../kit/number.ts";
import { table } from "../kit/panel.ts";
import { amountTicks, height, markAt, place, plot, roundScale, width } from "../kit/plot.ts";
import { marketplaceName } from "../kit/text.ts";

type Depth = z.output<typeof BookDepth>;
type Step = { readonly price: number; readonly units: number };

/** Listings cumulated from the lowest price up, offers from the highest down: what is left of the middle buys, right of it sells. */
export function depthChart({ listings, bids, currency }: Depth): Html {
  const asks = listings.levels.map(({ price, unitsCumulated }) => ({
    price,
    units: Number(unitsCumulated),
  }));
  const offers = bids.levels.map(({ price, collectionOffers, tokenOffers, criteriaOffers }) => ({
    price,
    units: [collectionOffers, tokenOffers, criteriaOffers].reduce(
      (sum, { unitsCumulated }) => sum + Number(unitsCumulated),
      0,
    ),
  }));
  const all = [...offers, ...asks];
  if (all.length === 0) return html`<p class="empty">Nothing is offered, and nobody bids.</p>`;
  const unit = currency.symbol ?? "";
  const units = roundScale(
    all.map((one) => one.units),
    { withZero: true },
  );
  const prices = roundScale(all.map(({ price }) => price));
  const x = (price: number) => width * prices.at(price);
  const y = (count: number) => height * (1 - units.at(count));
  return plot({
    id: "depth-chart",
    label: `${asks.length} prices of listings and ${offers.length} of offers, in ${unit}`,
    scale: units,
    unit: "units",
    legend: [
      ["bids", "Offers at this price or more"],
      ["asks", "Listings at this price or less"],
    ],
    shapes: [
      areaOf("bids", offers, 0, x, y),
      areaOf("asks", asks, width, x, y),
      ...[...asks, ...offers].map(({ price }) => markAt(prices.at(price))),
    ],
    below: amountTicks(prices, unit),
    table: html`${askTable(listings.levels, unit)}${bidTable(bids.levels, unit)}`,
  });
}

type Place = (value: number) => number;

/** Steps from the best price outwards, on to the chart's edge. */
function areaOf(
  name: string,
  steps: readonly Step[],
  edge: number,
  x: Place,
  y: Place,
): Html | false {
  const [first] = steps;
  if (first === undefined) return false;
  const path = steps.map(({ price, units }) => `H${place(x(price))}V${place(y(units))}`).join("");
  const start = place(x(first.price));
  return html`<path class="${name}" d="M${start} ${height}${path}H${edge}V${height}Z"/>`;
}

function askTable(levels: Depth["listings"]["levels"], unit: string): Html {
  return table(
    levels,
    [
      { head: `Price, ${unit}`, cell: ({ priceWei }) => bareAmount(priceWei, unit), isHead: true },
      { head: "Listings", cell: ({ orders }) => formatCount(orders), isNumber: true },
      { head: "Units", cell: ({ units }) => units, isNumber: true },
      { head: "Units up to here", cell: ({ unitsCumulated }) => unitsCumulated, isNumber: true },
      {
        head: `Cost up to here, ${unit}`,
        cell: ({ weiCumulated }) => bareAmount(weiCumulated, unit),
        isNumber: true,
      },
      {
        head: "Marketplaces",
        cell: ({ marketplaces }) =>
          marketplaces
            .map(({ marketplace, orders }) => `${marketplaceName(marketplace)} ${orders}`)
            .join(", "),
      },
    ],
    { caption: "Listings, lowest price first", isCaptionShown: true, empty: "No listings." },
  );
}

function bidTable(levels: Depth["bids"]["levels"], unit: string): Html {
  return table(
    levels,
    [
      { head: `Price, ${unit}`, cell: ({ priceWei }) => bareAmount(priceWei, unit), isHead: true },
      {
        head: "Offers on the collection",
        cell: ({ collectionOffers }) => collectionOffers.units,
        isNumber: true,
      },
      { head: "On tokens", cell: ({ tokenOffers }) => tokenOffers.units, isNumber: true },
      {
        head: "On traits and lists",
        cell: ({ criteriaOffers }) => criteriaOffers.units,
        isNumber: true,
      },
      {
        head: "On the collection up to here",
        cell: ({ collectionOffers }) => collectionOffers.unitsCumulated,
        isNumber: true,
      },
      {
        head: `Best for a seller, ${unit}`,
        cell: ({ bestSellerNetWei }) => bareAmount(bestSellerNetWei, unit),
        isNumber: true,
      },
    ],
    {
      caption: "Offers, highest price first; figures are units",
      isCaptionShown: true,
      empty: "No offers.",
    },
  );
}

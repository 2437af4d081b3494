import { coins } from "#chains/coins.ts";
import { chainIdLegend, coinsInWords } from "#chains/texts.ts";
import { periods } from "#projections/collection-stats/periods.ts";
import { chainRows, coinOf } from "./money.ts";
import { hex, inUnits, named, naming, standardOf, type View } from "./view.ts";

const spanOf = { "24h": "of the last 24 hours", "7d": "of 7 days", "30d": "of 30 days" } as const;

const traded = ([...periods, "all"] as const).flatMap((period) => {
  const span = period === "all" ? "of all time" : spanOf[period];
  return [
    [`sales_${period}`, `coalesce(s.sales_${period}, 0)`, `Sales ${span}`],
    [
      `volume_wei_${period}`,
      `coalesce(s.wei_${period}, 0)`,
      `Wei paid ${span}, in the chain's currency and its wrapped form`,
    ],
    [
      `volume_native_${period}`,
      inUnits(`coalesce(s.wei_${period}, 0)`),
      `volume_wei_${period} in ${coinsInWords}`,
    ],
    [
      `volume_usd_${period}`,
      `case when s.priced_wei_${period} > 0 and s.priced_wei_${period} >= s.wei_${period} then (s.usd_e8_${period} * 0.00000001)::double precision end`,
      `volume_wei_${period} in USD; null where a sale has no price`,
    ],
    [`wash_sales_${period}`, `coalesce(s.wash_sales_${period}, 0)`, "Of these, wash trades"],
    [
      `wash_volume_wei_${period}`,
      `coalesce(s.wash_wei_${period}, 0)`,
      `The part of volume_wei_${period} that is of wash trades`,
    ],
  ] as const;
});

export const collectionsView: View = {
  name: "collections",
  comment:
    "Collections with their figures over all their contracts; periods consist of full minutes",
  from: `collections.collection c
    join log.contract main on main.contract_id = c.collection_id
    left join collection_stats.collection s on s.collection_id = c.collection_id
    left join collection_stats.holder_stats h on h.collection_id = c.collection_id`,
  columns: [
    ["chain_id", "c.chain_id", chainIdLegend],
    ["collection", hex("main.address"), "Its primary contract"],
    ["collection_slug", "c.slug", "Unique on its chain"],
    ["name", "c.name", "Registered name, else that of its contract"],
    ["symbol", "c.symbol", "Symbol of its contract"],
    ["token_standard", standardOf("c.standard"), "erc721 or erc1155, of its primary contract"],
    ["is_verified", "c.verified", "Verified by this market"],
    ["supply", "coalesce(h.supply, 0)", "Units that are not burned: of ERC-721 tokens, one each"],
    ["holders", "coalesce(h.holders, 0)", "Distinct owners without burn addresses"],
    ["listed", "coalesce(s.listed, 0)", "Tokens with an active listing"],
    ["floor_wei", "s.floor_wei", "Cheapest active listing, in wei; null: none"],
    ["floor_native", inUnits("s.floor_wei"), `floor_wei in ${coinsInWords}`],
    ...traded,
    ["created_at", "c.created_at", "Time of its first transfer, else of its registration"],
    ["updated_at", "c.updated_at", "When its data changed last, apart from figures"],
  ],
};

export const floorsView: View = {
  name: "floors",
  comment: "Floor prices of contracts, from snapshots every five minutes over the last 31 days",
  from: `floors.floor o ${naming}`,
  columns: [
    ["chain_id", "o.chain_id", chainIdLegend],
    ...named,
    ["since", "o.valid_from", "First snapshot with this floor"],
    [
      "until",
      "o.valid_until",
      "First snapshot with another floor or none; null: the current floor",
    ],
    ["floor_wei", "o.price_wei", "Price of the cheapest active listing, in wei"],
    ["floor_native", inUnits("o.price_wei"), `floor_wei in ${coinsInWords}`],
  ],
};

export const pricesView: View = {
  name: "prices",
  comment:
    "Prices of the coins that chains are paid in: by minute while recorded live, by hour where backfilled",
  from: `coin_prices.tick p cross join ${chainRows} where p.coin = ${coinOf("chain.id")}`,
  columns: [
    ["chain_id", "chain.id", "Chain whose currency it is"],
    ["coin", "p.coin", coins.join(" or ")],
    ["priced_at", "p.minute", "Minute of the price"],
    ["price_usd", "(p.price_e8 * 0.00000001)::double precision", `USD of one ${coinsInWords}`],
  ],
};

import { type RawBuilder, sql } from "kysely";

/** Periods of the figures, in hours. They start at a full minute and end now. */
const periodHours = { "24h": 24, "7d": 168, "30d": 720 } as const;
export type Period = keyof typeof periodHours;

export const periods = Object.keys(periodHours) as Period[];

/**
 * Sums over sales: count, wei in the chain's currency, wei of those with a USD price, count of those in any currency without
 * one, and 10⁻⁸ USD.
 */
export const salesFigures = ["sales", "wei", "priced_wei", "unpriced_sales", "usd_e8"] as const;
/** Sums over those of them that are wash trades. */
export const washFigures = ["wash_sales", "wash_wei"] as const;
type Figure = (typeof salesFigures)[number] | (typeof washFigures)[number];

/** The column of a figure over a period; `all`: all time. */
export function salesColumn<Name extends Figure, Of extends Period | "all">(
  figure: Name,
  period: Of,
) {
  return `${figure}_${period}` as const;
}

/** The columns of figures over each period, figure by figure. */
export const columnsOf = (figures: readonly Figure[]) =>
  figures.flatMap((figure) =>
    ([...periods, "all"] as const).map((period) => salesColumn(figure, period)),
  );

export const salesColumns = columnsOf([...salesFigures, ...washFigures]);

export const hoursOf = (period: Period) => sql.raw(`interval '${periodHours[period]} hours'`);

const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;

export type CollectionOrder = {
  sort: (typeof sorts)[number];
  direction: "asc" | "desc";
  period: Period;
  /** Volume and sales are compared without wash trades. */
  excludesWash: boolean;
};

/** A figure that collections are sorted by. */
type SortFigure = {
  readonly table: "collection" | "holder_stats";
  /** SQL: its value. */
  readonly value: string;
  /**
   * SQL: whether a collection has it; null: every one does. Those without are not in its index: of a thousand new
   * contracts hardly one is ever listed or traded, and an entry in each index would be most of what a collection costs.
   */
  readonly isPresent: string | null;
};

/** Sort keys of collections without a floor or its change: below or above all others, so that they come last. */
const belowAll = -1_000_000_000n;
const aboveAll = 10n ** 90n;

/** The key of collections that do not have the figure. */
export function absentKey({ sort, direction }: CollectionOrder): bigint {
  if (sort !== "floor" && sort !== "change") return 0n;
  return direction === "asc" ? aboveAll : belowAll;
}

export function sortFigure({
  sort,
  period,
  excludesWash,
}: Omit<CollectionOrder, "direction">): SortFigure {
  if (sort === "supply" || sort === "holders") {
    return { table: "holder_stats", value: sort, isPresent: null };
  }
  if (sort === "floor" || sort === "change") {
    const value = sort === "floor" ? "floor_wei" : `"change_${period}"`;
    return { table: "collection", value, isPresent: `${value} is not null` };
  }
  const value = sort === "listed" ? sort : soldValue(sort, period, excludesWash);
  return { table: "collection", value, isPresent: `${value} <> 0` };
}

function soldValue(sort: "volume" | "sales", period: Period, excludesWash: boolean): string {
  const figure = sort === "volume" ? "wei" : "sales";
  const all = `"${salesColumn(figure, period)}"`;
  return excludesWash ? `(${all} - "${salesColumn(`wash_${figure}`, period)}")` : all;
}

/** The figures of all sorts by their values. */
export const sortFigures: ReadonlyMap<string, SortFigure> = new Map(
  sorts
    .flatMap((sort) =>
      periods.flatMap((period) =>
        [false, true].map((excludesWash) => sortFigure({ sort, period, excludesWash })),
      ),
    )
    .map((figure) => [figure.value, figure]),
);

/**
 * SQL: the order figures of a collection's contracts `c` as one row: `floor_wei`, `floor`, `floor_buyable`, `best_offer`
 * and the end time of the last, `best_ends_at`. `isCurrent` is a condition on an active order `o`.
 */
export function orderFigures(
  contracts: RawBuilder<unknown>,
  isCurrent: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const cheapest = (where: RawBuilder<unknown>) => sql`
    select o.unit_price_wei, ${listingJson} as shown
    from ${contracts} cross join lateral (
      select o.* from listings.listing o
      where o.contract_id = c.contract_id and o.status = 'active' and ${isCurrent} and ${where}
      order by o.unit_price_wei, o.position limit 1
    ) o
    order by o.unit_price_wei, o.position limit 1`;
  return sql`
    select floor.unit_price_wei as floor_wei, floor.shown as floor, buyable.shown as floor_buyable,
           offer.shown as best_offer, offer.end_time as best_ends_at
    from (select) one
    left join lateral (${cheapest(sql`true`)}) floor on true
    left join lateral (${cheapest(sql`o.is_buyable and floor.shown is not null`)}) buyable on true
    left join lateral (
      select o.end_time, ${bidJson} as shown
      from ${contracts} cross join lateral (
        select o.* from bids.bid o
        where o.contract_id = c.contract_id and o.kind = 'collection' and o.status = 'active' and ${isCurrent}
          and not ${isBurned(sql`c.contract_id`)}
        order by o.seller_net_wei desc, o.position limit 1
      ) o
      order by o.seller_net_wei desc, o.position limit 1
    ) offer on true`;
}

/**
 * SQL: whether nobody holds a token of a contract that had some, so that its bids are for nothing. A supply below zero says
 * that units came from before the first recorded block.
 */
const isBurned = (contractId: RawBuilder<unknown>) => sql`exists (
  select from ownership.collection held where held.contract_id = ${contractId} and held.holders = 0
    and case when held.standard = 1155 then held.units else held.supply end = 0)`;

/** SQL: the contracts `c` of collection `f`. */
export const contractsOfCollection = sql`
  (select c.contract_id from collection_stats.contract c where c.collection_id = f.collection_id) c`;

/** SQL: a `FloorListing`. */
const listingJson = sql`
  jsonb_build_object('priceWei', o.unit_price_wei::text, 'orderHash', '0x' || encode(o.order_hash, 'hex'),
                     'contract', (select '0x' || encode(k.address, 'hex') from log.contract k where k.contract_id = o.contract_id),
                     'tokenId', o.token_id::text, 'marketplace', o.marketplace, 'isBuyable', o.is_buyable,
                     'currency', '0x' || encode(o.currency, 'hex'))`;

/** SQL: a `BestOffer`. */
const bidJson = sql`
  jsonb_build_object('priceWei', o.unit_price_wei::text, 'sellerNetWei', o.seller_net_wei::text,
                     'orderHash', '0x' || encode(o.order_hash, 'hex'))`;

import {
  balancesView,
  bidsView,
  floorsView,
  listingsView,
  salesView,
  tokensView,
  transfersView,
} from "#projections/analytics/views.ts";
import type { SinkTable } from "./sync.ts";

type View = {
  readonly name: string;
  readonly columns: readonly (readonly [string, string, string])[];
};

const nameOf = {
  collection: "k.collection",
  collection_slug: "k.collection_slug",
  contract: "k.contract",
};
const withNames = "left join current_contracts k on k.contract_id = s.contract_id";

/** USD of an amount of row `s`, whether its column holds it or `beyond`, at a price in 10⁻⁸ USD. */
const usd = (wei: string) =>
  `coalesce(toFloat64(s.${wei}), toFloat64OrNull(JSONExtractString(s.beyond, '${wei}'))) * p.price_e8 * 1e-26`;

/** A price is no older than two hours. */
const isPriced = (pricedAt: string, at: string) => `${pricedAt} >= ${at} - interval 2 hour`;

const hasEnded = "s.status in ('active', 'inactive') and s.end_time <= toUnixTimestamp(now())";
const ofOrders = {
  ...nameOf,
  status: `case when ${hasEnded} then 'expired' else s.status end`,
  inactive_reason: `case when ${hasEnded} then null else s.reason end`,
  price_usd: `case when ${isPriced("p.last_at", "now()")} then ${usd("price_wei")} end`,
};

const orderJoins = `${withNames}
  left join (
    select chain_id, argMax(price_e8, priced_at) as price_e8, max(priced_at) as last_at
    from current_prices where priced_at <= now() group by chain_id
  ) p on p.chain_id = s.chain_id`;

/** The facts that are effective at a position, as `facts_at(upto = …)`. */
const factsAt = `create or replace view facts_at as
  select f.* from facts f
  left join (
    select block_id, argMax(kind, position) as state from facts
    where kind in ('block_retracted', 'block_readopted') and position <= {upto:Int64} group by block_id
  ) b on b.block_id = f.block_id
  where f.position <= {upto:Int64} and f.kind not in ('block_retracted', 'block_readopted')
    and coalesce(b.state, '') <> 'block_retracted'`;

const createView = (name: string, select: string) => `create or replace view ${name} as ${select}`;

/** The views of PostgreSQL's `analytics`, with the same columns, over the tables of the copy, and those of the facts. */
export function viewsOf(tables: readonly SinkTable[]): string[] {
  const columnsOf = (table: string) =>
    (tables.find(({ name }) => name === table)?.columns ?? []).map(({ name }) => name);
  const view = (
    { name, columns }: View,
    joined: Readonly<Record<string, string>>,
    joins: string,
  ) => {
    const copied = new Set(columnsOf(name));
    const selected = columns.map(([column]) => {
      const source = joined[column] ?? (copied.has(column) ? `s.${column}` : undefined);
      if (source === undefined) throw new Error(`${name}.${column} is not copied`);
      return `${source} as ${column}`;
    });
    return createView(
      name,
      `select ${selected.join(", ")}, s.beyond as beyond from current_${name} s ${joins}`,
    );
  };
  const whole = (name: string) =>
    createView(name, `select ${[...columnsOf(name), "beyond"].join(", ")} from current_${name}`);
  const ofContracts = { ...nameOf, chain_id: "k.chain_id" };
  return [
    view(
      salesView,
      {
        ...nameOf,
        wash_trade: "nullif(w.rule, '')",
        total_usd: `case when s.is_native and ${isPriced("p.priced_at", "s.block_timestamp")}
          then ${usd("total_wei")} end`,
      },
      `${withNames}
       left join current_wash_trades w on w.block_id = s.block_id and w.transaction_index = s.transaction_index
         and w.ordinal = s.ordinal
       asof left join current_prices p on p.chain_id = s.chain_id and p.priced_at <= s.block_timestamp`,
    ),
    view(transfersView, nameOf, withNames),
    ...[listingsView, bidsView].map((one) => view(one, ofOrders, orderJoins)),
    ...[tokensView, balancesView].map((one) => view(one, ofContracts, withNames)),
    view(floorsView, nameOf, withNames),
    createView(
      "prices",
      "select chain_id, coin, priced_at, price_e8 / 100000000.0 as price_usd, beyond from current_prices",
    ),
    whole("collections"),
    whole("facts"),
    factsAt,
  ];
}

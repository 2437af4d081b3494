import { chainIds } from "../../../chains/index.ts";
import { floorsView } from "../../../projections/reads/analytics/collection-views.ts";
import { balancesView, tokensView } from "../../../projections/reads/analytics/holding-views.ts";
import { bidsView, listingsView } from "../../../projections/reads/analytics/order-views.ts";
import { salesView, transfersView } from "../../../projections/reads/analytics/trade-views.ts";
import type { SinkTable } from "./sink.ts";

/** The name of the log's copy. */
export const mainCell = "main";

/** What engines write differently. */
export type Dialect = {
  createView(name: string, select: string): string;
  /** USD of wei at a price in 10⁻⁸ USD. */
  usd(wei: string, priceE8: string): string;
  /** A time two hours before another. */
  priceAge(at: string): string;
  /** The join of `p`, the last price at or before a time of `s`. */
  lastPriceBefore(at: string): string;
  /** The price of the greatest time, in a group. */
  latest(value: string, at: string): string;
  /** Whether a bigint of unix seconds is not after now. */
  isPast(seconds: string): string;
  /** SQL of a query for the cells of which an engine holds all rows. */
  readonly wholeCells: string;
  /** SQL expression of a column of `current_facts`, as analysts see it. */
  readonly beyond: readonly string[];
};

/** Of each chain the cell whose rows are seen: its own once that is copied whole, else the main one. */
export const servingView = "sync_serving";

const servingCells = (wholeCells: string) =>
  chainIds
    .map(
      (
        chainId,
      ) => `select case when '${chainId}' in (${wholeCells}) then '${chainId}' else '${mainCell}' end as cell,
         ${chainId} as chain_id`,
    )
    .join(" union all ");

const isServed = (chain: string) =>
  `(s._cell, ${chain}) in (select cell, chain_id from ${servingView})`;

const nameOf = {
  collection: "k.collection",
  collection_slug: "k.collection_slug",
  contract: "k.contract",
};
const withNames =
  "left join current_contracts k on k.contract_id = s.contract_id and k._cell = s._cell";

/** The views of PostgreSQL's `analytics`, with the same columns, over the tables of an engine. */
export function engineViews(dialect: Dialect, tables: readonly SinkTable[]): string[] {
  const has = (table: string, column: string) =>
    tables.find(({ name }) => name === table)?.columns.some(({ name }) => name === column) ?? false;
  const view = (
    { name, columns }: { name: string; columns: readonly (readonly [string, string, string])[] },
    joined: Readonly<Record<string, string>>,
    joins: string,
  ) => {
    const chain = joined.chain_id ?? "s.chain_id";
    const selected = columns.map(([column]) => {
      const source = joined[column] ?? (has(name, column) ? `s.${column}` : undefined);
      if (source === undefined) throw new Error(`${name}.${column} is not copied`);
      return `${source} as ${column}`;
    });
    const extra = dialect.beyond.map((column) => `s.${column} as ${column}`);
    return dialect.createView(
      name,
      `select ${[...selected, ...extra].join(", ")} from current_${name} s ${joins} where ${isServed(chain)}`,
    );
  };
  const chain = { ...nameOf, chain_id: "k.chain_id" };
  return [
    dialect.createView(servingView, servingCells(dialect.wholeCells)),
    view(
      salesView,
      {
        ...nameOf,
        wash_trade: "nullif(w.rule, '')",
        total_usd: `case when s.is_native and p.priced_at >= ${dialect.priceAge("s.block_timestamp")}
          then ${dialect.usd("s.total_wei", "p.price_e8")} end`,
      },
      `${withNames}
       left join current_wash_trades w on w.block_id = s.block_id and w.transaction_index = s.transaction_index
         and w.ordinal = s.ordinal and w._cell = s._cell
       ${dialect.lastPriceBefore("s.block_timestamp")}`,
    ),
    view(transfersView, nameOf, withNames),
    ...[listingsView, bidsView].map((one) => view(one, ofOrders(dialect), orderJoins(dialect))),
    ...[tokensView, balancesView].map((one) => view(one, chain, withNames)),
    view(floorsView, nameOf, withNames),
    dialect.createView(
      "prices",
      `select ${["chain_id, coin, priced_at, price_e8 / 100000000.0 as price_usd", ...dialect.beyond].join(", ")}
       from current_prices s where ${isServed("s.chain_id")}`,
    ),
    dialect.createView(
      "collections",
      `select ${columnsOf(tables, "collections", dialect)} from current_collections s where ${isServed("s.chain_id")}`,
    ),
    dialect.createView(
      "facts",
      `select s._cell as cell, ${columnsOf(tables, "facts", dialect)}
       from current_facts s where s.chain_id is null or ${isServed("s.chain_id")}`,
    ),
  ];
}

const columnsOf = (tables: readonly SinkTable[], table: string, { beyond }: Dialect) =>
  [
    ...(tables.find(({ name }) => name === table)?.columns ?? []).map(({ name }) => name),
    ...beyond,
  ].join(", ");

function ofOrders({ isPast, usd, priceAge }: Dialect) {
  const hasEnded = `s.status in ('active', 'inactive') and ${isPast("s.end_time")}`;
  return {
    ...nameOf,
    status: `case when ${hasEnded} then 'expired' else s.status end`,
    inactive_reason: `case when ${hasEnded} then null else s.reason end`,
    price_usd: `case when p.last_at >= ${priceAge("now()")} then ${usd("s.price_wei", "p.price_e8")} end`,
  };
}

const orderJoins = ({ latest }: Dialect) => `${withNames}
  left join (
    select _cell, chain_id, ${latest("price_e8", "priced_at")} as price_e8, max(priced_at) as last_at
    from current_prices where priced_at <= now() group by _cell, chain_id
  ) p on p.chain_id = s.chain_id and p._cell = s._cell`;

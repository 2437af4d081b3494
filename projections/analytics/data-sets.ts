import { factKind } from "../log/fact-kinds.ts";
import { chainRows, coinColumn, hex, namingJoins, quoted, type View } from "./view.ts";
import {
  balancesView,
  bidsView,
  collectionsView,
  floorsView,
  holdings,
  listingsView,
  salesView,
  tokenRows,
  tokensView,
  transfersView,
} from "./views.ts";

/**
 * Rows that are copied to ClickHouse. Each is in a part, and a part is copied whole when it may have changed:
 * `blocks` and `hours` by the facts since the last copy, `digest` where the digest of the part's rows differs.
 */
export type DataSet = {
  readonly name: string;
  readonly changes: "blocks" | "hours" | "digest";
  /** Columns that identify a row, or nearly: engines sort by them. They are never null. */
  readonly key: readonly string[];
  readonly columns: readonly (readonly [name: string, expression: string])[];
  readonly from: string;
  /** SQL of the part's number; of a digest's data set it is drawn from the key. */
  readonly part?: string;
  /** The table that is another one after a rebuild, for data sets whose parts are known by facts. */
  readonly table?: string;
};

/** The columns of a view that are of its own tables: what is joined to them is joined in the engine too. */
const ownColumns = ({ columns }: View, without: readonly string[]) =>
  columns
    .filter(([name]) => !without.includes(name))
    .map(([name, expression]) => [name, expression] as const);

const named = ["collection", "collection_slug", "contract"];
const contractId = ["contract_id", "o.contract_id"] as const;
const endTime = ["end_time", "o.end_time"] as const;
const ofOrders = [...named, "price_usd", "status", "inactive_reason"];
const state = [["status", "o.status"] as const, ["reason", "o.reason"] as const];

const sale = ["block_id", "transaction_index", "ordinal"];
const ofSale = sale.map((name) => [name, `o.${name}`] as const);

export const dataSets: readonly DataSet[] = [
  {
    name: "sales",
    changes: "blocks",
    key: sale,
    columns: [
      ...ofSale,
      contractId,
      ...ownColumns(salesView, [...named, "total_usd", "wash_trade"]),
    ],
    from: "sales.sale o",
    part: "o.block_id",
    table: "sales.sale",
  },
  {
    name: "transfers",
    changes: "blocks",
    key: ["block_id", "log_index"],
    columns: [["block_id", "o.block_id"], contractId, ...ownColumns(transfersView, named)],
    from: transfersView.from.replace(namingJoins, ""),
    part: "o.block_id",
    table: "log.fact",
  },
  {
    name: "prices",
    changes: "hours",
    key: ["chain_id", "priced_at"],
    columns: [
      ["chain_id", "chain.id"],
      ["coin", "o.coin"],
      ["priced_at", "o.minute"],
      ["price_e8", "o.price_e8"],
    ],
    from: `coin_prices.tick o cross join ${chainRows} where o.coin = ${coinColumn("chain.id")}`,
    part: "(extract(epoch from o.minute)::bigint / 3600)",
    table: "coin_prices.tick",
  },
  {
    name: "wash_trades",
    changes: "digest",
    key: sale,
    columns: [...ofSale, ["rule", "o.rule"]],
    from: "sales.wash_trade o",
  },
  {
    name: "listings",
    changes: "digest",
    key: ["chain_id", "order_hash"],
    columns: [contractId, endTime, ...state, ...ownColumns(listingsView, ofOrders)],
    from: "listings.listing o",
  },
  {
    name: "bids",
    changes: "digest",
    key: ["chain_id", "order_hash"],
    columns: [contractId, endTime, ...state, ...ownColumns(bidsView, ofOrders)],
    from: "bids.bid o",
  },
  {
    name: "tokens",
    changes: "digest",
    key: ["contract_id", "token_id"],
    columns: [contractId, ...ownColumns(tokensView, ["chain_id", ...named])],
    from: `${tokenRows} left join metadata.token d on d.contract_id = o.contract_id and d.token_id = o.token_id`,
  },
  {
    name: "balances",
    changes: "digest",
    key: ["contract_id", "token_id", "owner"],
    columns: [contractId, ...ownColumns(balancesView, ["chain_id", ...named])],
    from: holdings,
  },
  {
    name: "collections",
    changes: "digest",
    key: ["chain_id", "collection"],
    columns: ownColumns(collectionsView, []),
    from: collectionsView.from,
  },
  {
    name: "floors",
    changes: "digest",
    key: ["contract_id", "since"],
    columns: [contractId, ...ownColumns(floorsView, named)],
    from: "floors.floor o",
  },
  {
    name: "contracts",
    changes: "digest",
    key: ["contract_id"],
    columns: [
      ["contract_id", "k.contract_id"],
      ["chain_id", "k.chain_id"],
      ["contract", hex("k.address")],
      ["collection", hex("coalesce(main.address, k.address)")],
      ["collection_slug", "c.slug"],
    ],
    from: `log.contract o ${namingJoins}`,
  },
];

/** Projections whose tables the data sets read: they are copied where all are at one position. */
export const copiedProjections: readonly string[] = [
  ...["sales", "activity", "coin_prices", "listings", "bids", "ownership", "metadata"],
  ...["collections", "collection_stats", "floors"],
];

const kinds = Object.entries(factKind).map(([name, kind]) => `(${kind}, ${quoted(name)})`);
const operated = [factKind.operator_action_started, factKind.operator_action_ended];

/** The facts themselves. What operators did is without its payload, which names people. */
export const factColumns: DataSet["columns"] = [
  ["position", "f.position"],
  ["kind", "n.kind"],
  ["chain_id", "coalesce(b.chain_id, k.chain_id)"],
  ["block_id", "f.block_id"],
  ["block_number", "b.number"],
  ["block_timestamp", "b.timestamp"],
  ["transaction_index", "f.transaction_index"],
  ["transaction_hash", hex("t.hash")],
  ["log_index", "f.log_index"],
  ["sub_index", "f.sub_index"],
  ["contract", hex("k.address")],
  ["token_id", "f.token_id"],
  ["amount", "f.amount"],
  ["from_address", hex("f.from_address")],
  ["to_address", hex("f.to_address")],
  ["order_hash", hex("f.order_hash")],
  ["recorded_at", "f.recorded_at"],
  ["payload", `case when f.kind not in (${operated.join(", ")}) then f.payload end`],
];
export const factsFrom = `log.fact f
  join (values ${kinds.join(", ")}) n (number, kind) on n.number = f.kind
  left join log.block b on b.block_id = f.block_id
  left join log.transaction t on t.block_id = f.block_id and t.transaction_index = f.transaction_index
  left join log.contract k on k.contract_id = f.contract_id`;

/** What a column holds. `integer256`: whole numbers of any size; `decimal`: amounts in ETH or APE. */
export type CopiedKind =
  | "boolean"
  | "integer"
  | "bigint"
  | "double"
  | "time"
  | "text"
  | "json"
  | "integer256"
  | "decimal";
export type CopiedColumn = {
  readonly name: string;
  readonly kind: CopiedKind;
  readonly isKey: boolean;
};

/** What ClickHouse's types hold: UInt256, and times of years before this one. */
const greatestInteger = 2n ** 256n - 1n;
const endYear = 2262;

const kindsByType: Readonly<Record<number, CopiedKind>> = {
  16: "boolean",
  21: "integer",
  23: "integer",
  20: "bigint",
  701: "double",
  1184: "time",
  3802: "json",
};
const numeric = 1700;

/** A column of PostgreSQL by its type's number. */
export function copiedColumn(name: string, type: number, key: readonly string[]): CopiedColumn {
  const isKey = key.includes(name);
  if (type !== numeric) return { name, kind: kindsByType[type] ?? "text", isKey };
  return { name, kind: name.includes("_native") ? "decimal" : "integer256", isKey };
}

/** From here on an amount in ETH or APE is null; the same amount in wei is exact. */
const decimalLimit = "100000000000000000000";

/** The name of the column that holds, as JSON, exact values which ClickHouse's types do not hold: there they are null. */
export const beyond = "beyond";

/** SQL expressions of a row's values as CSV is to have them, with `beyond`. */
export function valuesOf(columns: readonly CopiedColumn[]): string[] {
  const limited = columns.filter((column) => fits(column) !== null);
  return [...columns.map(copiedValue), limited.length === 0 ? "''" : beyondOf(limited)];
}

function copiedValue(column: CopiedColumn): string {
  const { name, kind } = column;
  const fit = fits(column);
  const value = `q."${name}"`;
  if (kind === "boolean") return `${value}::int`;
  if (kind === "decimal") return `case when abs(${value}) < ${decimalLimit} then ${value} end`;
  return fit === null ? value : `case when ${fit} then ${value} end`;
}

/** SQL: whether a value fits; null where every value does. Keys always fit: a chain knows no others. */
function fits({ name, kind, isKey }: CopiedColumn): string | null {
  const value = `q."${name}"`;
  if (isKey) return null;
  if (kind === "integer256") return `${value} between 0 and ${greatestInteger}`;
  if (kind === "time") return `${value} >= '1900-01-01Z' and ${value} < '${endYear}-01-01Z'`;
  return null;
}

function beyondOf(columns: readonly CopiedColumn[]): string {
  const all = columns.map((column) => `(${fits(column)}) is not false`).join(" and ");
  const exact = columns.map(
    (column) => `'${column.name}', case when (${fits(column)}) is false
      then q."${column.name}"::text end`,
  );
  return `case when ${all} then '' else jsonb_strip_nulls(jsonb_build_object(${exact.join(", ")}))::text end`;
}

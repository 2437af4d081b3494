import type { CopiedKind } from "../../../../projections/reads/analytics/capture/columns.ts";
import { beyond } from "../../../../projections/reads/analytics/capture/columns.ts";
import type { SinkTable } from "../sink.ts";
import { type Dialect, engineViews } from "../views.ts";

const types: Record<CopiedKind, string> = {
  boolean: "Bool",
  integer: "Int32",
  bigint: "Int64",
  double: "Float64",
  time: "DateTime64(6, 'UTC')",
  text: "String",
  json: "String",
  integer256: "UInt256",
  decimal: "Decimal(76, 18)",
};

/** The numbers of syncs that were committed: rows of others are not seen. */
const committed = "(select sync from sync_commit)";

/** What is read of the engine's own tables, as of the last commit. */
export const bookkeeping = [
  `create table if not exists sync_commit (cell String, sync UInt64, position Int64, facts_position Int64,
     last_fact Nullable(String), table_ids String, committed_at DateTime64(3, 'UTC'))
   engine = MergeTree order by sync`,
  "create table if not exists sync_begun (sync UInt64) engine = MergeTree order by sync",
  `create table if not exists sync_removed (cell String, name String, part Int64, is_all Bool, sync UInt64)
   engine = MergeTree order by (name, cell, part)`,
  `create table if not exists sync_digest (cell String, name String, part Int64, digest String, sync UInt64)
   engine = MergeTree order by (name, cell, part)`,
];

const removedOf = (name: string) => `
  select cell, part, max(sync) as removed from sync_removed
  where name = '${name}' and not is_all and sync in ${committed} group by cell, part`;

const allRemovedOf = (name: string) => `
  select cell, max(sync) as removed from sync_removed
  where name = '${name}' and is_all and sync in ${committed} group by cell`;

export const digestsOf = (name: string, cell: string) => `
  select part, argMax(digest, sync) as digest from sync_digest
  where name = '${name}' and cell = '${cell}' and sync in ${committed} group by part having digest <> ''`;

/** The table of a data set's rows, and the view of those that are there as of the last commit. */
export function rowTable({ name, columns, key }: SinkTable, table = `rows_${name}`): string {
  const defined = columns.map((column) => {
    const type = types[column.kind];
    return `${column.name} ${column.isKey ? type : `Nullable(${type})`}`;
  });
  const part = name === "facts" ? [] : ["_part Int64"];
  const all = [...defined, `${beyond} String`, ...part, "_cell String", "_sync UInt64"];
  return `create table ${table} (${all.join(", ")}) engine = MergeTree order by (${key.join(", ")})`;
}

/** A row is there if its sync was committed, and no later one of its cell that was committed removed its part or all. */
function currentView({ name }: Pick<SinkTable, "name">): string {
  const seen = `r._sync in ${committed}`;
  if (name === "facts")
    return `create or replace view current_facts as select r.* from rows_facts r where ${seen}`;
  return `create or replace view current_${name} as
    select r.* from rows_${name} r
    left join (${removedOf(name)}) m on m.cell = r._cell and m.part = r._part
    left join (${allRemovedOf(name)}) a on a.cell = r._cell
    where ${seen} and r._sync >= coalesce(m.removed, 0) and r._sync >= coalesce(a.removed, 0)`;
}

/** An amount of row `s`, whether its column holds it or `beyond`. */
const fractionOf = (wei: string) =>
  `coalesce(toFloat64(${wei}), toFloat64OrNull(JSONExtractString(s.${beyond}, '${wei.replace("s.", "")}')))`;

const dialect: Dialect = {
  createView: (name, select) => `create or replace view ${name} as ${select}`,
  usd: (wei, priceE8) => `${fractionOf(wei)} * ${priceE8} * 1e-26`,
  priceAge: (at) => `${at} - interval 2 hour`,
  lastPriceBefore: (at) =>
    `asof left join current_prices p on p._cell = s._cell and p.chain_id = s.chain_id and p.priced_at <= ${at}`,
  latest: (value, at) => `argMax(${value}, ${at})`,
  isPast: (seconds) => `${seconds} <= toUnixTimestamp(now())`,
  wholeCells: "select cell from sync_commit where position > 0",
  beyond: [beyond],
};

/** The facts that are effective at a position of each cell, as `facts_at(upto = …)`. */
const factsAt = `create or replace view facts_at as
  select f.* from facts f
  left join (
    select cell, block_id, argMax(kind, position) as state from facts
    where kind in ('block_retracted', 'block_readopted') and position <= {upto:Int64} group by cell, block_id
  ) b on b.block_id = f.block_id and b.cell = f.cell
  where f.position <= {upto:Int64} and f.kind not in ('block_retracted', 'block_readopted')
    and coalesce(b.state, '') <> 'block_retracted'`;

export const viewsOf = (tables: readonly SinkTable[]): string[] => [
  ...tables.map(currentView),
  ...engineViews(dialect, tables),
  factsAt,
];

import { beyond, type CopiedKind } from "#projections/analytics/data-sets.ts";
import type { SinkTable } from "./sink.ts";

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
  `create table if not exists sync_commit (sync UInt64, position Int64, facts_position Int64,
     last_fact Nullable(String), table_ids String, committed_at DateTime64(3, 'UTC'))
   engine = MergeTree order by sync`,
  "create table if not exists sync_begun (sync UInt64) engine = MergeTree order by sync",
  `create table if not exists sync_removed (name String, part Int64, is_all Bool, sync UInt64)
   engine = MergeTree order by (name, part)`,
  `create table if not exists sync_digest (name String, part Int64, digest String, sync UInt64)
   engine = MergeTree order by (name, part)`,
];

const removedOf = (name: string) => `
  select part, max(sync) as removed from sync_removed
  where name = '${name}' and not is_all and sync in ${committed} group by part`;

const allRemovedOf = (name: string) => `
  select max(sync) as removed from sync_removed where name = '${name}' and is_all and sync in ${committed}`;

export const digestsOf = (name: string) => `
  select part, argMax(digest, sync) as digest from sync_digest
  where name = '${name}' and sync in ${committed} group by part having digest <> ''`;

/** The table of a data set's rows, and the view of those that are there as of the last commit. */
export function rowTable({ name, columns, key }: SinkTable, table = `rows_${name}`): string {
  const defined = columns.map((column) => {
    const type = types[column.kind];
    return `${column.name} ${column.isKey ? type : `Nullable(${type})`}`;
  });
  const part = name === "facts" ? [] : ["_part Int64"];
  const all = [...defined, `${beyond} String`, ...part, "_sync UInt64"];
  return `create table ${table} (${all.join(", ")}) engine = MergeTree order by (${key.join(", ")})`;
}

/** A row is there if its sync was committed, and no later one that was committed removed its part or all. */
export function currentView({ name }: Pick<SinkTable, "name">): string {
  const seen = `r._sync in ${committed}`;
  if (name === "facts")
    return `create or replace view current_facts as select r.* from rows_facts r where ${seen}`;
  return `create or replace view current_${name} as
    select r.* from rows_${name} r
    left join (${removedOf(name)}) m on m.part = r._part
    cross join (${allRemovedOf(name)}) a
    where ${seen} and r._sync >= coalesce(m.removed, 0) and r._sync >= a.removed`;
}

import { sql } from "kysely";
import type { Database } from "#projections/database.ts";

/** A partition of the log: positions from `first` up to `last`. */
export type Partition = {
  table: string;
  first: bigint;
  last: bigint;
  /** By the server's statistics; null: there are none. */
  facts: bigint | null;
  /** With its indexes. */
  bytes: bigint;
};

/** The partitions of the log in the order of positions; none where it has not been moved to partitions. */
export async function readPartitions(db: Database): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select format('%I.%I', n.nspname, c.relname) as table, bound.range[1]::bigint as first,
           bound.range[2]::bigint - 1 as last, nullif(c.reltuples, -1)::bigint as facts,
           pg_total_relation_size(c.oid) as bytes
    from pg_inherits h join pg_class c on c.oid = h.inhrelid join pg_namespace n on n.oid = c.relnamespace
    cross join lateral regexp_match(pg_get_expr(c.relpartbound, c.oid), $$FROM [(]'([0-9]+)'[)] TO [(]'([0-9]+)'[)]$$) bound (range)
    where h.inhparent = 'log.fact'::regclass
    order by first`.execute(db);
  return rows;
}

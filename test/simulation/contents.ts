import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../projections/database.ts";

/** A table's rows by what they say, each as sorted pairs of column and text. */
export type Contents = Record<string, string[]>;

type Row = Record<string, string | null>;

/**
 * The tables of a schema with contracts as addresses, blocks as hashes and positions as the facts that stand there, so
 * that states of different logs of one history are equal.
 */
export async function readContents(db: Database, schema: string): Promise<Contents> {
  const { rows } = await sql<{ table: string; column: string }>`
    select c.relname as table, a.attname as column
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = to_regnamespace(${schema})::oid and c.relkind = 'r'
    order by c.relname, a.attnum`.execute(db);
  const tables = new Map<string, string[]>();
  for (const { table, column } of rows) tables.set(table, [...(tables.get(table) ?? []), column]);
  const contents: Contents = {};
  for (const [table, columns] of tables)
    contents[table] = await readTable(db, schema, table, columns);
  return contents;
}

async function readTable(
  db: Database,
  schema: string,
  table: string,
  columns: readonly string[],
): Promise<string[]> {
  const selected = columns.map((column) => sql`${content(column)} as ${sql.ref(column)}`);
  const { rows } = await sql<Row>`
    select ${sql.join(selected)} from ${sql.table(`${schema}.${table}`)} t`.execute(db);
  return rows.map(rowText).sort();
}

function content(column: string): RawBuilder<unknown> {
  const value = sql`t.${sql.ref(column)}`;
  if (column === "contract_id" || column === "collection_id") {
    return sql`(select k.chain_id || '/' || encode(k.address, 'hex') from log.contract k where k.contract_id = ${value})`;
  }
  if (column.endsWith("block_id")) {
    return sql`(select encode(b.hash, 'hex') from log.block b where b.block_id = ${value})`;
  }
  if (column.endsWith("position")) {
    return sql`(select encode(f.identity, 'hex') from log.fact f where f.position = ${value})`;
  }
  return sql`${value}::text`;
}

export function rowText(row: Row): string {
  const pairs = Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1));
  return pairs.map(([column, value]) => `${column}=${value}`).join(" ");
}

/** How two states differ, in words; null when they do not. */
export function difference(one: Contents, other: Contents): string | null {
  const lines: string[] = [];
  for (const table of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const left = one[table] ?? [];
    const right = other[table] ?? [];
    lines.push(...without(left, right).map((row) => `  - ${table}: ${row}`));
    lines.push(...without(right, left).map((row) => `  + ${table}: ${row}`));
  }
  return lines.length === 0 ? null : lines.slice(0, 20).join("\n");
}

/** Rows of a list that another lacks, repeated ones as often as they are too many. */
function without(rows: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const row of others) left.set(row, (left.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const count = left.get(row) ?? 0;
    left.set(row, count - 1);
    return count <= 0;
  });
}

import { type RawBuilder, sql } from "kysely";
import type { Database } from "#projections/log/database.ts";

/** A table's rows by what they say, each as sorted pairs of column and text. */
export type Contents = Record<string, string[]>;

/** Columns of tables, by their names. */
export type Layout = ReadonlyMap<string, readonly string[]>;

type Row = Record<string, string | null>;

/** A schema that holds a projection's tables. */
export type Place = { db: Database; schema: string; layout: Layout };

export async function readLayout(db: Database, schema: string): Promise<Layout> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = to_regnamespace(${schema})::oid and c.relkind = 'r'
    group by c.relname order by c.relname`.execute(db);
  return new Map(rows.map(({ table, columns }) => [table, columns]));
}

/**
 * The tables of a schema with contracts as addresses, blocks as hashes and positions as the facts that stand there, so
 * that states of different logs of one history are equal.
 */
export async function readContents(place: Place): Promise<Contents> {
  const contents: Contents = {};
  for (const table of place.layout.keys()) contents[table] = await readTable(place, table);
  return contents;
}

async function readTable({ db, schema, layout }: Place, table: string): Promise<string[]> {
  const columns = layout.get(table);
  if (columns === undefined) return [];
  const selected = columns.map((column) => sql`${content(column)} as ${sql.ref(column)}`);
  const { rows } = await sql<Row>`
    select ${sql.join(selected)} from ${sql.table(`${schema}.${table}`)} t`.execute(db);
  return rows.map(rowText).sort();
}

/** One hash of each table's contents, whatever the order and the number of its rows, in one statement. */
async function readHashes({ db, schema, layout }: Place): Promise<Map<string, string>> {
  const tables = [...layout].map(([table, columns]) => {
    const row = sql`row(${sql.join(columns.map(content))})::text`;
    const sum = (seed: number) => sql`sum(hashtextextended(t.row, ${sql.lit(seed)}))`;
    return sql`
      select ${sql.lit(table)} as table, concat_ws(' ', count(*), ${sum(0)}, ${sum(1)}) as hash
      from (select ${row} as row from ${sql.table(`${schema}.${table}`)} t) t`;
  });
  const { rows } = await sql<{ table: string; hash: string }>`
    ${sql.join(tables, sql` union all `)}`.execute(db);
  return new Map(rows.map(({ table, hash }) => [table, hash]));
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

/** How the tables of two schemas differ, in words; null when they do not. Rows are read where hashes differ. */
export async function differenceOf(one: Place, other: Place): Promise<string | null> {
  const [left, right] = await Promise.all([readHashes(one), readHashes(other)]);
  const lines: string[] = [];
  for (const table of new Set([...left.keys(), ...right.keys()])) {
    if (right.get(table) === left.get(table)) continue;
    const rows = await Promise.all([one, other].map((place) => readTable(place, table)));
    const [those = [], these = []] = rows;
    lines.push(difference({ [table]: those }, { [table]: these }) ?? `  ${table}: other hashes`);
  }
  return lines.length === 0 ? null : lines.join("\n");
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

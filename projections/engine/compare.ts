import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";

/** A stored row that differs from the derived one. Null: the row is missing there. */
export type Difference = {
  table: string;
  stored: Record<string, unknown> | null;
  derived: Record<string, unknown> | null;
};

type Table = { name: string; columns: string[]; key: string[] };

/** Numbers of rows compared and different, and examples. */
export type Comparison = { compared: bigint; different: bigint; examples: Difference[] };

/** Compares the tables of two schemas row by row by content; `restriction` limits the rows of each. */
export async function compareSchemas(
  session: Session,
  { stored, derived }: { stored: string; derived: string },
  options: { maxExamples: number; tables?: readonly string[]; restriction?: RawBuilder<unknown> },
): Promise<Comparison> {
  const total: Comparison = { compared: 0n, different: 0n, examples: [] };
  const there = await readTables(session, stored);
  for (const table of await readTables(session, derived)) {
    if (options.tables !== undefined && !options.tables.includes(table.name)) continue;
    const same = there.find(({ name }) => name === table.name);
    if (same?.columns.join() !== table.columns.join()) {
      throw new Error(
        `${stored}.${table.name} has columns ${same?.columns.join(", ") ?? "(no table)"}, this version creates ` +
          `${table.columns.join(", ")}: rebuild it`,
      );
    }
    const one = await compareTable(session, table, { stored, derived }, options);
    total.compared += one.compared;
    total.different += one.different;
    total.examples.push(...one.examples.slice(0, options.maxExamples - total.examples.length));
  }
  return total;
}

async function compareTable(
  session: Session,
  { name, columns, key }: Table,
  { stored, derived }: { stored: string; derived: string },
  { maxExamples, restriction }: { maxExamples: number; restriction?: RawBuilder<unknown> },
): Promise<Comparison> {
  if (key.length === 0) throw new Error(`${derived}.${name} has no key to compare its rows by`);
  const rowsOf = (schema: string) =>
    sql`select * from ${sql.id(schema, name)} ${restriction ?? sql``}`;
  const content = (alias: string) =>
    sql`row(${sql.join(columns.map((column) => sql.ref(`${alias}.${column}`)))})`;
  const sides = sql`
    (${rowsOf(stored)}) s full join (${rowsOf(derived)}) d
    on ${sql.join(
      key.map((column) => sql`s.${sql.ref(column)} = d.${sql.ref(column)}`),
      sql` and `,
    )}`;
  const differs = sql`${content("s")} is distinct from ${content("d")}`;
  const { rows } = await sql<{ compared: bigint; different: bigint }>`
    select count(*) as compared, count(*) filter (where ${differs}) as different from ${sides}`.execute(
    session,
  );
  const { compared = 0n, different = 0n } = rows[0] ?? {};
  if (different === 0n || maxExamples === 0) return { compared, different, examples: [] };
  const first = sql.ref(key[0] ?? "");
  const examples = await sql<{ stored: Difference["stored"]; derived: Difference["derived"] }>`
    select case when s.${first} is not null then to_jsonb(s) end as stored,
           case when d.${first} is not null then to_jsonb(d) end as derived
    from ${sides} where ${differs}
    order by ${sql.join(key.map((column) => sql`coalesce(s.${sql.ref(column)}, d.${sql.ref(column)})`))}
    limit ${maxExamples}`.execute(session);
  return { compared, different, examples: examples.rows.map((row) => ({ table: name, ...row })) };
}

/** A schema's tables with their columns and the columns of a unique key. */
async function readTables(session: Session, schema: string): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select c.relname as name,
           array(select a.attname::text from pg_attribute a
                 where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns,
           array(select a.attname::text from (
                   select i.indrelid, i.indkey from pg_index i
                   where i.indrelid = c.oid and i.indisunique and i.indpred is null and i.indexprs is null
                   order by i.indisprimary desc limit 1
                 ) i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
                 order by a.attnum) as key
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind = 'r'
    order by c.relname`.execute(session);
  return rows;
}

import { type RawBuilder, sql } from "kysely";
import type { Session } from "../../database.ts";
import { type FactKind, factKind } from "../fact-kind.ts";
import { type ArchivedColumn, archivedColumns, cellsOf } from "./archived-columns.ts";
import type { FactLine } from "./read-lines.ts";

/** Stores facts that were written as lines in a table with the columns of `log.fact`, as they were. */
export async function storeLines(
  session: Session,
  table: RawBuilder<unknown>,
  pages: AsyncIterable<readonly FactLine[]>,
): Promise<void> {
  const cells = sql.raw(archivedColumns.map(columnOf).join(", "));
  for await (const page of pages) {
    await sql`
      insert into ${table}
      select ${cells} from unnest(${page.map(({ line }) => line)}::text[]) with ordinality one (line, ord)
      cross join lateral string_to_array(one.line, E'\\t', '\\N') c
      order by one.ord`.execute(session);
  }
}

const kindPlace = archivedColumns.findIndex(({ name }) => name === "kind");

/** Those of the facts that are of some kinds; undefined: all. */
export async function* ofKinds(
  pages: AsyncIterable<readonly FactLine[]>,
  kinds: readonly FactKind[] | undefined,
): AsyncGenerator<readonly FactLine[]> {
  const wanted = kinds && new Set<string | null>(kinds.map((kind) => `${factKind[kind]}`));
  for await (const page of pages) {
    if (wanted === undefined) yield page;
    else yield page.filter(({ line }) => wanted.has(cellsOf(line)[kindPlace] ?? null));
  }
}

const types: Readonly<Record<string, string>> = {
  kind: "smallint",
  token_id: "numeric",
  amount: "numeric",
  payload: "jsonb",
};

/** SQL: a column's value, of its text in the array `c`. */
function columnOf({ name, type }: ArchivedColumn, index: number): string {
  const text = `c[${index + 1}]`;
  if (type === "bytes") return `decode(${text}, 'hex')`;
  if (type === "micros") return `timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond'`;
  return `${text}::${types[name] ?? type}`;
}

import { sql } from "kysely";
import type { Session } from "../../database.ts";
import { lineOfFact } from "./archived-columns.ts";

/** Facts in memory at once. */
const PAGE = 10_000n;

export type FactLine = { readonly position: bigint; readonly line: string };

/** The facts of a partition as lines, in the order of positions, a page at a time. */
export async function* readLines(
  session: Session,
  { table, first, last }: { table: string; first: bigint; last: bigint },
): AsyncGenerator<FactLine[]> {
  for (let from = first; from <= last; from += PAGE) {
    const { rows } = await sql<FactLine>`
      select f.position, ${lineOfFact} as line from ${sql.table(table)} f
      where f.position >= ${from} and f.position < ${from + PAGE} order by f.position`.execute(
      session,
    );
    yield rows;
  }
}

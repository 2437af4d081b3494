import { type KyselyPlugin, RawNode } from "kysely";
import type { Database } from "../../../projections/database.ts";

/** The plans of the statements that `read` makes, which then find no rows. */
export async function plansOf(
  db: Database,
  read: (db: Database) => Promise<unknown>,
): Promise<string> {
  const lines: string[] = [];
  const explain: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (!RawNode.is(node)) return node;
      const [first = "", ...others] = node.sqlFragments;
      return RawNode.create([`explain ${first}`, ...others], [...node.parameters]);
    },
    transformResult: ({ result }) => {
      lines.push(...result.rows.map((row) => String(row["QUERY PLAN"])));
      return Promise.resolve({ ...result, rows: [] });
    },
  };
  await read(db.withPlugin(explain));
  return lines.join("\n");
}

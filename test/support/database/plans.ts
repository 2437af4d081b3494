import { type KyselyPlugin, RawNode } from "kysely";
import { z } from "zod";
import type { Database } from "../../../projections/database.ts";

type Read = (db: Database) => Promise<unknown>;

/** Runs `read` with each of its statements explained; they then find no rows. */
async function explainEach(
  db: Database,
  options: string,
  read: Read,
  onPlan: (line: unknown) => void,
): Promise<void> {
  const explain: KyselyPlugin = {
    transformQuery: ({ node }) => {
      if (!RawNode.is(node)) return node;
      const [first = "", ...others] = node.sqlFragments;
      return RawNode.create([`explain ${options} ${first}`, ...others], [...node.parameters]);
    },
    transformResult: ({ result }) => {
      for (const row of result.rows) onPlan(row["QUERY PLAN"]);
      return Promise.resolve({ ...result, rows: [] });
    },
  };
  await read(db.withPlugin(explain));
}

/** The plans of the statements that `read` makes, which then find no rows. */
export async function plansOf(db: Database, read: Read): Promise<string> {
  const lines: string[] = [];
  await explainEach(db, "", read, (line) => lines.push(String(line)));
  return lines.join("\n");
}

const Analyzed = z.tuple([
  z.looseObject({
    "Execution Time": z.number(),
    Plan: z.looseObject({ "Shared Hit Blocks": z.number(), "Shared Read Blocks": z.number() }),
  }),
]);

/** Milliseconds on the server, and pages of 8 kB looked at, of each statement that `read` makes. */
export async function analyze(
  db: Database,
  read: Read,
): Promise<{ executionMs: number; buffers: number }[]> {
  const found: { executionMs: number; buffers: number }[] = [];
  await explainEach(db, "(analyze, buffers, timing off, format json)", read, (plan) => {
    const [{ "Execution Time": executionMs, Plan }] = Analyzed.parse(plan);
    const buffers = Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
    found.push({ executionMs, buffers });
  });
  return found;
}

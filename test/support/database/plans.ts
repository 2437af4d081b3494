import { type CompiledQuery, createQueryId, type KyselyPlugin, RawNode, sql } from "kysely";
import pg from "pg";
import { z } from "zod";
import type { Database } from "#projections/log/database.ts";

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

function buffersOf(plan: unknown): number {
  const [{ Plan }] = Analyzed.parse(plan);
  return Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
}

/** Milliseconds on the server, and pages of 8 kB looked at, of each statement that `read` makes. */
export async function analyze(
  db: Database,
  read: Read,
): Promise<{ executionMs: number; buffers: number }[]> {
  const found: { executionMs: number; buffers: number }[] = [];
  await explainEach(db, "(analyze, buffers, timing off, format json)", read, (plan) => {
    const [{ "Execution Time": executionMs }] = Analyzed.parse(plan);
    found.push({ executionMs, buffers: buffersOf(plan) });
  });
  return found;
}

/** Pages of 8 kB that the statements of `read` look at together, planned for their values and for any values. */
export async function readsByPlan(
  db: Database,
  read: Read,
): Promise<Record<"custom" | "generic", number>> {
  const statements: CompiledQuery[] = [];
  const recording = db.withPlugin({
    transformQuery({ node }) {
      statements.push(db.getExecutor().compileQuery(node, createQueryId()));
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  await read(recording);
  return {
    custom: await pagesRead(db, "force_custom_plan", statements),
    generic: await pagesRead(db, "force_generic_plan", statements),
  };
}

async function pagesRead(
  db: Database,
  mode: string,
  statements: readonly CompiledQuery[],
): Promise<number> {
  let pages = 0;
  for (const { sql: text, parameters } of statements) {
    const values = parameters.map((value) => literal(value)).join();
    await db.transaction().execute(async (session) => {
      const run = (statement: string) =>
        sql.raw<Record<string, unknown>>(statement).execute(session);
      await run(`set local plan_cache_mode = ${mode}`);
      await run(`prepare planned as ${text}`);
      const { rows } = await run(
        `explain (analyze, buffers, timing off, format json) execute planned(${values})`,
      );
      await run("deallocate planned");
      pages += buffersOf(rows[0]?.["QUERY PLAN"]);
    });
  }
  return pages;
}

/** A statement's parameter as `execute` takes it. */
const literal = (value: unknown) => (value === null ? "null" : pg.escapeLiteral(textOf(value)));

function textOf(value: unknown): string {
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  if (value instanceof Date) return value.toISOString();
  if (!Array.isArray(value)) return String(value);
  return `{${value.map((one) => JSON.stringify(textOf(one))).join()}}`;
}

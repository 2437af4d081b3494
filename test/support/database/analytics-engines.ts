import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import pg from "pg";
import { openClickhouse } from "#jobs/analytics/clickhouse-server.ts";
import { factColumns, factsFrom } from "#projections/analytics/data-sets.ts";

const root = join(import.meta.dirname, "../../..");
const readText = (path: string) => readFile(join(root, path), "utf8");

/** A row's values as text. */
type Cells = readonly (string | null)[];
type Ask = (query: string) => Promise<Cells[]>;

/** Asks an engine once; its server is left afterwards. */
export type Engine = {
  readonly name: "PostgreSQL" | "ClickHouse" | "DuckDB";
  asking<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result>;
};

export const postgresEngine = (url: string): Engine => ({
  name: "PostgreSQL",
  async asking(work) {
    const types = { getTypeParser: () => (value: string) => value };
    const client = new pg.Client({ connectionString: url, types: types as never });
    await client.connect();
    try {
      await client.query(
        "begin isolation level repeatable read read only; set local timezone to 'UTC'",
      );
      return await work(async (query) => {
        const { rows } = await client.query({ text: query, rowMode: "array" });
        return rows;
      });
    } finally {
      await client.end();
    }
  },
});

export const clickhouseEngine = (url: string): Engine => ({
  name: "ClickHouse",
  async asking(work) {
    const server = openClickhouse(url);
    try {
      return await work((query) => server.read(query));
    } finally {
      await server.close();
    }
  },
});

/** The recipe's views, with Parquet files of another directory than the one that it names. */
export const duckdbEngine = (directory: string): Engine => ({
  name: "DuckDB",
  async asking(work) {
    const views = await readText("docs/notebook/views.sql");
    return await withDuckdb(async (connection) => {
      await connection.run(views.replaceAll("/srv/exports", directory));
      return await work(async (query) => {
        const rows = (await connection.runAndReadAll(query)).getRowsJson();
        return rows.map((row) => row.map((cell) => (cell === null ? null : String(cell))));
      });
    });
  },
});

async function withDuckdb<Result>(work: (connection: DuckDBConnection) => Promise<Result>) {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    await connection.run("set timezone = 'UTC'");
    return await work(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Rows that DuckDB answers with, as JSON. */
export const askDuckdb = (query: string) =>
  withDuckdb(async (connection) => (await connection.runAndReadAll(query)).getRowObjectsJson());

/** The SQL of a document, block by block. */
async function readStatements(path: string): Promise<string[]> {
  return [...(await readText(path)).matchAll(/```sql\n(.*?);\n```/gs)].map(([, text = ""]) => text);
}

/** The queries of an engine's document. */
async function readQuestions({ name }: Pick<Engine, "name">): Promise<string[]> {
  if (name === "PostgreSQL") return readStatements("projections/analytics/README.md");
  if (name === "ClickHouse") return readStatements("jobs/analytics/README.md");
  return readStatements("docs/duckdb.md");
}

const factNames = factColumns.map(([name]) => name);

/** Every row of the facts and views, by view, and the columns of each. */
export type Copy = {
  readonly rows: ReadonlyMap<string, string[]>;
  readonly columns: ReadonlyMap<string, readonly string[]>;
};

/** What an engine holds. */
export async function readCopy({ name, asking }: Engine): Promise<Copy> {
  const views: Record<string, string[]> = JSON.parse(
    await readText("test/spec/analytics-columns.json"),
  );
  const isPostgres = name === "PostgreSQL";
  const extra = name === "ClickHouse" ? ["beyond"] : [];
  const columnsOf = { ...views, facts: factNames };
  const rows = await asking(async (ask) => {
    const contents = new Map<string, string[]>();
    for (const [view, columns] of Object.entries(columnsOf)) {
      const from = isPostgres ? `analytics.${view}` : view;
      const facts = `select ${factColumns.map(([, one]) => one).join(", ")} from ${factsFrom}`;
      const query =
        isPostgres && view === "facts"
          ? facts
          : `select ${[...columns, ...extra].join(", ")} from ${from}`;
      contents.set(view, canonicalRows(await ask(query), columns));
    }
    return contents;
  });
  return { rows, columns: new Map(Object.entries(columnsOf)) };
}

/** Rows of an answer in one form and order, whatever engine gave it. */
export function canonicalRows(rows: readonly Cells[], columns: readonly string[] = []): string[] {
  return rows
    .map((row) => {
      const beyond = columns.length > 0 ? row[columns.length] : null;
      const exact: Record<string, string> = beyond ? JSON.parse(beyond) : {};
      const cells = columns.length > 0 ? row.slice(0, columns.length) : row;
      return JSON.stringify(
        cells.map((cell, index) => {
          const column = columns[index] ?? "";
          return canonical(exact[column] ?? cell, column);
        }),
      );
    })
    .sort();
}

const truths: Record<string, string> = { t: "true", f: "false" };

/** Fractions that are no amounts are equal to twelve digits. */
function canonical(cell: string | null, column: string): string | null {
  if (cell === null) return null;
  if (column.includes("_native") && column !== "is_native") return canonicalAmount(cell);
  if (/^-?\d+$/.test(cell)) return cell;
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(cell)) return `${Number(Number(cell).toPrecision(12))}`;
  return truths[cell] ?? canonicalTime(cell);
}

/** Amounts in ETH or APE are exact up to 10²⁰, and then null in an engine. */
function canonicalAmount(cell: string): string | null {
  if (Math.abs(Number(cell)) >= 1e20) return null;
  return cell.includes(".") ? cell.replace(/\.?0+$/, "") : cell;
}

function canonicalTime(text: string): string {
  const [, day, time = "00:00:00", fraction = ""] =
    /^(\d{4,6}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(\.\d+)?(?:\+00(?::?00)?|Z)?)?$/.exec(text) ?? [];
  return day === undefined ? text : `${day} ${time}${fraction.replace(/\.?0+$/, "")}`;
}

/** The answers to the questions, over one chain and with a fixed time for now, without their limits. */
export async function readAnswers(
  engine: Engine,
  { chainId, contract, now }: { chainId: number; contract: string; now: string },
): Promise<string[][]> {
  const time =
    engine.name === "ClickHouse" ? `toDateTime64('${now}', 3, 'UTC')` : `timestamptz '${now}+00'`;
  const questions = (await readQuestions(engine)).map((query) =>
    query
      .replaceAll("33139", `${chainId}`)
      .replaceAll("0x000000000000000000000000000000000000a032", contract)
      .replaceAll("now()", time)
      .replace(/limit \d+$/, ""),
  );
  return await engine.asking(async (ask) => {
    const answers: string[][] = [];
    for (const query of questions) answers.push(canonicalRows(await ask(query)));
    return answers;
  });
}

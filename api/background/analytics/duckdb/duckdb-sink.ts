import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { CopiedKind } from "../../../../projections/reads/analytics/capture/columns.ts";
import type { Batch, Sink, SinkState, SinkTable } from "../sink.ts";
import { engineViews, servingView } from "../views.ts";
import { duckdbDialect, factsAt } from "./duckdb-views.ts";

/** A file of DuckDB. While it is open for writing no other process reads it: a sync opens and closes it. */
export async function openDuckdb(path: string, cell: string): Promise<Sink> {
  const { DuckDBInstance: Instance } = await import("@duckdb/node-api").catch((cause: unknown) => {
    throw new Error("the optional package @duckdb/node-api is not installed", { cause });
  });
  await mkdir(dirname(path), { recursive: true });
  const instance = await Instance.create(path, { memory_limit: "1GB", threads: "2" });
  const connection = await instance.connect();
  await connection.run("set timezone = 'UTC'");
  return sinkOf({ instance, connection, path, cell });
}

type Opened = {
  instance: DuckDBInstance;
  connection: DuckDBConnection;
  path: string;
  cell: string;
};

const types: Record<CopiedKind, string> = {
  boolean: "boolean",
  integer: "integer",
  bigint: "bigint",
  double: "double",
  time: "timestamptz",
  text: "varchar",
  json: "json",
  integer256: "bignum",
  decimal: "decimal(38,18)",
};

function sinkOf(opened: Opened): Sink {
  const { instance, connection, cell } = opened;
  const tables = new Map<string, SinkTable>();
  const readText = async (statement: string) => {
    const reader = await connection.runAndReadAll(statement);
    return reader.getRowsJson() as (string | null)[][];
  };
  const readState = async (): Promise<SinkState | null> => {
    const [row] = await readText(`select state::varchar from sync_state where cell = '${cell}'`);
    return row?.[0] == null ? null : parseState(row[0]);
  };
  return {
    limits: { integer256: null, year: null },
    async prepare(wanted, isAnew) {
      await prepare(connection, wanted, tables);
      if (isAnew) await removeCell(connection, wanted, cell);
    },
    readState,
    async readDigests(table) {
      const rows = await readText(
        `select part::varchar, digest from sync_digest
         where name = '${table}' and cell = '${cell}' and digest <> ''`,
      );
      return new Map(rows.map(([part, digest]) => [BigInt(part ?? 0), digest ?? ""]));
    },
    async begin() {
      await connection.run("begin");
      return batchOf(opened, tables);
    },
    abandon: async () => void (await connection.run("rollback")),
    compact: async () => {},
    async close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

function batchOf({ connection, path, cell }: Opened, tables: Map<string, SinkTable>): Batch {
  return {
    extra: [`'${cell}'`],
    async remove(table, parts) {
      const these = parts === "all" ? "" : `and _part in (${parts.join(", ")})`;
      if (parts === "all" || parts.length > 0)
        await connection.run(`delete from current_${table} where _cell = '${cell}' ${these}`);
    },
    async insert(name, rows) {
      const table = tables.get(name);
      if (table === undefined) throw new Error(`no table ${name}`);
      await insertCsv(connection, table, rows, `${path}.${name}.csv`);
    },
    async setDigests(table, digests) {
      const values = [...digests].map(
        ([part, digest]) => `('${cell}', '${table}', ${part}, '${digest}')`,
      );
      if (values.length === 0) return;
      await connection.run(
        `insert or replace into sync_digest (cell, name, part, digest) values ${values.join(", ")}`,
      );
    },
    async commit({ position, factsPosition, lastFact, tableIds }) {
      const state = {
        position: `${position}`,
        factsPosition: `${factsPosition}`,
        lastFact,
        tableIds,
      };
      const text = JSON.stringify({ ...state, committedAt: new Date() });
      await connection.run(`insert or replace into sync_state values ('${cell}', '${text}')`);
      await connection.run("commit");
    },
  };
}

/** By a file: the engine reads one with all its threads, and what arrives slowly holds no lock of it. */
async function insertCsv(
  connection: DuckDBConnection,
  { name, columns }: SinkTable,
  rows: Readable,
  file: string,
): Promise<void> {
  try {
    await pipeline(rows, createWriteStream(file));
    const read = columnsOf({ name, columns }).map(([column, type]) => `'${column}': '${type}'`);
    await connection.run(
      `insert into current_${name} select * from read_csv('${file.replaceAll("'", "''")}', header = false,
         auto_detect = false, delim = ',', quote = '"', escape = '"', nullstr = '\\N', allow_quoted_nulls = false,
         max_line_size = 16777216, buffer_size = 33554432, columns = {${read.join(", ")}})`,
    );
  } finally {
    await rm(file, { force: true });
  }
}

const columnsOf = ({ name, columns }: Pick<SinkTable, "name" | "columns">) => [
  ...columns.map((column) => [column.name, types[column.kind]] as const),
  ...(name === "facts" ? [] : [["_part", "bigint"] as const]),
  ["_cell", "varchar"] as const,
];

/** Tables and views; what has other columns is dropped first, of all cells. */
async function prepare(
  connection: DuckDBConnection,
  wanted: readonly SinkTable[],
  tables: Map<string, SinkTable>,
): Promise<void> {
  for (const table of wanted) tables.set(table.name, table);
  const statements = [
    ...wanted.map((table) => {
      const columns = columnsOf(table).map(([column, type]) => `"${column}" ${type}`);
      return `create table current_${table.name} (${columns.join(", ")})`;
    }),
    "create table sync_state (cell varchar primary key, state json)",
    `create table sync_digest (cell varchar, name varchar, part bigint, digest varchar,
       primary key (cell, name, part))`,
    ...engineViews(duckdbDialect, wanted),
    factsAt,
  ];
  const version = createHash("sha256").update(statements.join(";")).digest("hex");
  await connection.run("create table if not exists sync_version (version varchar)");
  const held = (await connection.runAndReadAll("select version from sync_version")).getRowsJson();
  if (held[0]?.[0] === version) return;
  await connection.run("begin");
  await dropAll(connection, wanted);
  for (const statement of statements) await connection.run(statement);
  await connection.run(`insert into sync_version values ('${version}')`);
  await connection.run("commit");
}

async function removeCell(
  connection: DuckDBConnection,
  tables: readonly SinkTable[],
  cell: string,
): Promise<void> {
  await connection.run("begin");
  for (const { name } of tables)
    await connection.run(`delete from current_${name} where _cell = '${cell}'`);
  for (const name of ["sync_state", "sync_digest"])
    await connection.run(`delete from ${name} where cell = '${cell}'`);
  await connection.run("commit");
}

/** What this or an earlier version made, by name. */
async function dropAll(connection: DuckDBConnection, wanted: readonly SinkTable[]): Promise<void> {
  await connection.run("drop macro table if exists facts_at");
  await connection.run(`drop view if exists ${servingView}`);
  for (const { name } of wanted) await connection.run(`drop view if exists ${name}`);
  for (const { name } of wanted) await connection.run(`drop table if exists current_${name}`);
  for (const name of ["sync_state", "sync_digest"])
    await connection.run(`drop table if exists ${name}`);
  await connection.run("delete from sync_version");
}

function parseState(text: string): SinkState {
  const state = JSON.parse(text);
  return {
    ...state,
    position: BigInt(state.position),
    factsPosition: BigInt(state.factsPosition),
    committedAt: new Date(state.committedAt),
  };
}

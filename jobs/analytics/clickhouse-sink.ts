import { createHash, randomInt } from "node:crypto";
import { beyond, type CopiedKind } from "#projections/analytics/data-sets.ts";
import {
  type ClickhouseOptions,
  type ClickhouseServer,
  openClickhouse,
} from "./clickhouse-server.ts";
import { viewsOf } from "./clickhouse-views.ts";
import type { Sink, SinkState, SinkTable, SyncBatch } from "./sync.ts";

/** Parts of a table that were replaced, from which its rows are written again without the old ones. */
const REPLACED_PARTS = 20_000;

/** A database of ClickHouse. It has no transactions: rows carry their sync, and are seen once that is committed. */
export function openClickhouseSink(url: string, options: ClickhouseOptions = {}): Sink {
  const server = openClickhouse(url, options);
  let tables: readonly SinkTable[] = [];
  return {
    async prepare(wanted, isAnew) {
      tables = wanted;
      await prepare(server, wanted);
      // Its rows are deleted before the next are inserted.
      if (isAnew) await server.run("truncate table sync_commit");
    },
    readState: () => readState(server),
    async readDigests(table) {
      const rows = await server.read(`select * from (${digestsOf(table)})`);
      return new Map(rows.map(([part, digest]) => [BigInt(part ?? 0), digest ?? ""]));
    },
    async begin() {
      await removeAbandoned(server, tables);
      if ((await readState(server)) === null) await removeAll(server, tables);
      const number = await nextNumber(server);
      await server.insert("sync_begun", `${number}\n`);
      return batchOf(server, number);
    },
    compact: () => compact(server, tables),
    close: () => server.close(),
  };
}

function batchOf(server: ClickhouseServer, number: bigint): SyncBatch {
  const lines = (rows: readonly (readonly unknown[])[]) =>
    rows.map((row) => `${row.join(",")}\n`).join("");
  return {
    number,
    async remove(table, parts) {
      const removed =
        parts === "all" ? [[table, 0, 1, number]] : parts.map((part) => [table, part, 0, number]);
      if (removed.length > 0) await server.insert("sync_removed", lines(removed));
    },
    insert: (table, rows) => server.insert(`rows_${table}`, rows),
    async setDigests(table, digests) {
      const rows = [...digests].map(([part, digest]) => [table, part, `"${digest}"`, number]);
      if (rows.length > 0) await server.insert("sync_digest", lines(rows));
    },
    async commit({ position, factsPosition, lastFact, tableIds }) {
      const ids = JSON.stringify(tableIds).replaceAll('"', '""');
      await server.insert(
        "sync_commit",
        lines([
          [
            number,
            position,
            factsPosition,
            lastFact ?? "\\N",
            `"${ids}"`,
            `"${new Date().toISOString()}"`,
          ],
        ]),
      );
    },
  };
}

async function readState(server: ClickhouseServer): Promise<SinkState | null> {
  const [row] = await server.read(
    `select position, facts_position, last_fact, table_ids, toUnixTimestamp64Milli(committed_at)
     from sync_commit order by sync desc limit 1`,
  );
  if (row === undefined) return null;
  const [position, factsPosition, lastFact = null, tableIds, committedAt] = row;
  return {
    position: BigInt(position ?? 0),
    factsPosition: BigInt(factsPosition ?? 0),
    lastFact,
    tableIds: JSON.parse(tableIds ?? "{}"),
    committedAt: new Date(Number(committedAt)),
  };
}

/** Greater than all before, and not the same for two that begin at once. */
async function nextNumber(server: ClickhouseServer): Promise<bigint> {
  const [row] = await server.read("select max(sync) from sync_commit");
  const now = BigInt(Date.now()) * 1_000n + BigInt(randomInt(1_000));
  const last = BigInt(row?.[0] ?? 0);
  return now > last ? now : last + 1n;
}

/** Rows of syncs that were not committed are not seen; their space is freed here. */
async function removeAbandoned(
  server: ClickhouseServer,
  tables: readonly SinkTable[],
): Promise<void> {
  const left = await server.read(
    "select sync from sync_begun where sync not in (select sync from sync_commit)",
  );
  if (left.length > 0) {
    const numbers = left.map(([sync]) => sync).join(", ");
    for (const { name } of tables)
      await server.run(`delete from rows_${name} where _sync in (${numbers})`);
    for (const name of ["sync_removed", "sync_digest"])
      await server.run(`delete from ${name} where sync in (${numbers})`);
  }
  await server.run("truncate table sync_begun");
}

/** Without a commit nothing is seen: what there is was copied before it was to be copied anew. */
async function removeAll(server: ClickhouseServer, tables: readonly SinkTable[]): Promise<void> {
  const names = [...tables.map(({ name }) => `rows_${name}`), "sync_removed", "sync_digest"];
  for (const name of names) await server.run(`truncate table ${name}`);
}

/** Writes rows again without those that were replaced; both tables change their names at once. */
async function compact(server: ClickhouseServer, tables: readonly SinkTable[]): Promise<void> {
  const replaced = await server.read(
    `select name from sync_removed group by name having count() > ${REPLACED_PARTS}`,
  );
  for (const table of tables.filter(({ name }) => replaced.some(([one]) => one === name))) {
    const { name } = table;
    await server.run(`drop table if exists next_${name}`);
    await server.run(rowTable(table, `next_${name}`));
    await server.run(`insert into next_${name} select * from current_${name}`);
    await server.run(`exchange tables next_${name} and rows_${name}`);
    await server.run(`drop table next_${name}`);
    await server.run(
      `delete from sync_removed where name = '${name}' and sync < (select max(sync) from sync_commit)`,
    );
    await server.run(`delete from sync_digest where name = '${name}'
      and (part, sync) not in (
        select part, max(sync) from sync_digest where name = '${name}' group by part)`);
  }
}

/** Tables and views; what has other columns is dropped first. */
async function prepare(server: ClickhouseServer, tables: readonly SinkTable[]): Promise<void> {
  const statements = [
    ...bookkeeping,
    ...tables.map((table) => rowTable(table)),
    ...tables.map(currentView),
    ...viewsOf(tables),
  ];
  const version = createHash("sha256").update(statements.join(";")).digest("hex");
  await server.run(
    "create table if not exists sync_version (version String) engine = MergeTree order by version",
  );
  const held = await server.read("select version from sync_version");
  if (held.length === 1 && held[0]?.[0] === version) return;
  await server.run("truncate table sync_version");
  for (const { name } of tables)
    for (const [kind, one] of [
      ["view", name],
      ["view", `current_${name}`],
      ["table", `rows_${name}`],
      ["table", `next_${name}`],
    ])
      await server.run(`drop ${kind} if exists ${one}`);
  for (const name of ["sync_commit", "sync_begun", "sync_removed", "sync_digest"])
    await server.run(`drop table if exists ${name}`);
  for (const statement of statements) await server.run(statement);
  await server.insert("sync_version", `${version}\n`);
}

const types: Record<CopiedKind, string> = {
  boolean: "Bool",
  integer: "Int32",
  bigint: "Int64",
  double: "Float64",
  time: "DateTime64(6, 'UTC')",
  text: "String",
  json: "String",
  integer256: "UInt256",
  decimal: "Decimal(76, 18)",
};

/** The numbers of syncs that were committed: rows of others are not seen. */
const committed = "(select sync from sync_commit)";

/** What is read of the engine's own tables, as of the last commit. */
const bookkeeping = [
  `create table if not exists sync_commit (sync UInt64, position Int64, facts_position Int64,
     last_fact Nullable(String), table_ids String, committed_at DateTime64(3, 'UTC'))
   engine = MergeTree order by sync`,
  "create table if not exists sync_begun (sync UInt64) engine = MergeTree order by sync",
  `create table if not exists sync_removed (name String, part Int64, is_all Bool, sync UInt64)
   engine = MergeTree order by (name, part)`,
  `create table if not exists sync_digest (name String, part Int64, digest String, sync UInt64)
   engine = MergeTree order by (name, part)`,
];

const removedOf = (name: string) => `
  select part, max(sync) as removed from sync_removed
  where name = '${name}' and not is_all and sync in ${committed} group by part`;

const allRemovedOf = (name: string) => `
  select max(sync) as removed from sync_removed where name = '${name}' and is_all and sync in ${committed}`;

const digestsOf = (name: string) => `
  select part, argMax(digest, sync) as digest from sync_digest
  where name = '${name}' and sync in ${committed} group by part having digest <> ''`;

/** The table of a data set's rows, and the view of those that are there as of the last commit. */
function rowTable({ name, columns, key }: SinkTable, table = `rows_${name}`): string {
  const defined = columns.map((column) => {
    const type = types[column.kind];
    return `${column.name} ${column.isKey ? type : `Nullable(${type})`}`;
  });
  const part = name === "facts" ? [] : ["_part Int64"];
  const all = [...defined, `${beyond} String`, ...part, "_sync UInt64"];
  return `create table ${table} (${all.join(", ")}) engine = MergeTree order by (${key.join(", ")})`;
}

/** A row is there if its sync was committed, and no later one that was committed removed its part or all. */
function currentView({ name }: Pick<SinkTable, "name">): string {
  const seen = `r._sync in ${committed}`;
  if (name === "facts")
    return `create or replace view current_facts as select r.* from rows_facts r where ${seen}`;
  return `create or replace view current_${name} as
    select r.* from rows_${name} r
    left join (${removedOf(name)}) m on m.part = r._part
    cross join (${allRemovedOf(name)}) a
    where ${seen} and r._sync >= coalesce(m.removed, 0) and r._sync >= a.removed`;
}

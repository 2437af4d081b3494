import { sql } from "kysely";
import { type Html, html } from "#api/pages/kit/html.ts";
import { formatCount, formatShare, moment } from "#api/pages/kit/number.ts";
import { figures, panel, table } from "#api/pages/kit/panel.ts";
import type { Database } from "#projections/log/database.ts";
import { readSamples } from "#projections/log/operators.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import { megabytes } from "../reports/present-fact.ts";
import { findStaleSchemas } from "../reports/stale-schemas.ts";
import { actionLink } from "./known-actions.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";
import { timeChart } from "./tables.ts";

const growthDays = 30;

/** Size and growth, statements, indexes, connections and vacuum. */
export async function databasePage({ db, config, now }: ConsoleVisit): Promise<ConsoleContent> {
  const time = now();
  const since = new Date(time.getTime() - growthDays * 86_400_000);
  const [overview, tables, indexes, connections, growth, stale] = await Promise.all([
    readDatabaseOverview(db),
    readTableSizes(db),
    findPoorIndexes(db),
    readConnections(db),
    readSamples(db, "database_bytes", since),
    findStaleSchemas(db, config, configuredProjections(config)),
  ]);
  const body = [
    html`<h1>Database</h1>`,
    head(overview),
    panel({
      id: "growth",
      title: `Size, last ${growthDays} days`,
      body: timeChart({
        id: "growth-chart",
        about: "Size of the database",
        unit: "MB",
        samples: growth.map(({ takenAt, value }) => ({ takenAt, value: value / 1e6 })),
        empty:
          "A sample is taken every hour while the console runs; there are not two of them yet.",
      }),
    }),
    panel({
      id: "tables",
      title: "Largest tables",
      body: table(
        tables,
        [
          { head: "Table", cell: (one) => one.table, isHead: true },
          {
            head: "Size with indexes",
            cell: ({ bytes }) => megabytes(Number(bytes)),
            isNumber: true,
          },
          { head: "Rows", cell: ({ rows }) => formatCount(Number(rows)), isNumber: true },
          {
            head: "Dead rows",
            cell: ({ deadRows }) => formatCount(Number(deadRows)),
            isNumber: true,
          },
          { head: "Vacuumed", cell: ({ vacuumedAt }) => moment(vacuumedAt?.toISOString(), time) },
          { head: "Analyzed", cell: ({ analyzedAt }) => moment(analyzedAt?.toISOString(), time) },
        ],
        { caption: "Largest tables" },
      ),
    }),
    panel({
      id: "indexes",
      title: "Unused and bloated indexes",
      about:
        "Of 8 MB and more; use since the server's statistics began, empty space by estimate. reindex index concurrently makes one small again. An unused one may serve a rare request: look before you drop it.",
      body: table(
        indexes,
        [
          { head: "Index", cell: ({ index }) => index, isHead: true },
          { head: "Table", cell: (one) => one.table },
          { head: "Size", cell: ({ bytes }) => megabytes(Number(bytes)), isNumber: true },
          { head: "Finding", cell: ({ finding }) => finding },
        ],
        { caption: "Unused and bloated indexes", empty: "None was found." },
      ),
    }),
    panel({
      id: "statements",
      title: "Statements by time",
      body: statementTable(overview.statements),
    }),
    panel({
      id: "connections",
      title: "Connections",
      body: table(
        connections,
        [
          {
            head: "Application",
            cell: ({ application }) => application || "unnamed",
            isHead: true,
          },
          { head: "User", cell: ({ user }) => user },
          { head: "State", cell: ({ state }) => state },
          { head: "Connections", cell: (one) => one.connections, isNumber: true },
          {
            head: "Oldest transaction",
            cell: ({ oldestSeconds }) =>
              oldestSeconds === null ? "none" : `${oldestSeconds.toFixed(1)} s`,
            isNumber: true,
          },
        ],
        { caption: "Connections" },
      ),
    }),
    panel({
      id: "stale",
      title: "Unused schemas",
      aside: stale.length > 0 && actionLink("Prune", "prune"),
      body: table(
        stale,
        [
          { head: "Schema", cell: ({ schema }) => schema, isHead: true },
          { head: "Size", cell: ({ bytes }) => megabytes(Number(bytes)), isNumber: true },
          { head: "Why", cell: ({ why }) => why },
        ],
        { caption: "Unused schemas", empty: "There is none." },
      ),
    }),
  ];
  return { title: "Database", body };
}

function head({
  bytes,
  version,
  connections,
  maxConnections,
  cacheHits,
  deadlocks,
  frozenAge,
  vacuums,
}: DatabaseOverview): Html {
  return figures([
    {
      label: "Size",
      value: html`<data id="database-bytes" value="${bytes.toString()}">${megabytes(Number(bytes))}</data>`,
    },
    { label: "PostgreSQL", value: version.split(" ")[0] ?? version },
    { label: "Connections", value: `${connections} of ${maxConnections}` },
    {
      label: "Reads from the cache",
      value: cacheHits === null ? "none yet" : formatShare(cacheHits),
    },
    { label: "Deadlocks", value: deadlocks.toString() },
    {
      label: "Oldest row not frozen",
      value: `${formatCount(frozenAge)} transactions`,
      note: html`2 billion is the end; vacuum freezes at 200 million`,
    },
    {
      label: "Vacuum",
      value:
        vacuums.length === 0
          ? "not running"
          : vacuums
              .map(
                (one) =>
                  `${one.table}: ${one.phase}${one.share === null ? "" : `, ${formatShare(one.share)}`}`,
              )
              .join("; "),
    },
  ]);
}

function statementTable(statements: DatabaseOverview["statements"]): Html {
  if (statements === null) {
    return html`<p class="empty">The server does not count them. What to do: <code>shared_preload_libraries = 'pg_stat_statements'</code>, then <code>create extension pg_stat_statements</code>.</p>`;
  }
  return table(
    statements,
    [
      { head: "Statement", cell: ({ query }) => html`<code>${query}</code>`, isHead: true },
      { head: "Calls", cell: ({ calls }) => calls.toString(), isNumber: true },
      { head: "Mean, ms", cell: ({ meanMs }) => meanMs.toFixed(2), isNumber: true },
      { head: "Total, s", cell: ({ totalMs }) => (totalMs / 1_000).toFixed(1), isNumber: true },
    ],
    { caption: "Statements by time", empty: "None was counted yet." },
  );
}

const mostRows = 20;
/** Bytes below which an unused or bloated index is not worth a word. */
const leastIndexBytes = 8_000_000;
/** Part of an index that its entries should fill; the rest is bloat. */
const bloatedBelow = 0.5;

type TableSize = {
  table: string;
  bytes: bigint;
  rows: bigint;
  deadRows: bigint;
  vacuumedAt: Date | null;
  analyzedAt: Date | null;
};

/** The largest tables, with their indexes and partitions, and when these were vacuumed. */
async function readTableSizes(db: Database): Promise<TableSize[]> {
  const { rows } = await sql<TableSize>`
    select format('%I.%I', n.nspname, c.relname) as table, sum(pg_total_relation_size(s.relid))::bigint as bytes,
           sum(s.n_live_tup)::bigint as rows, sum(s.n_dead_tup)::bigint as "deadRows",
           max(greatest(s.last_vacuum, s.last_autovacuum)) as "vacuumedAt",
           max(greatest(s.last_analyze, s.last_autoanalyze)) as "analyzedAt"
    from pg_stat_user_tables s left join pg_inherits h on h.inhrelid = s.relid
    join pg_class c on c.oid = coalesce(h.inhparent, s.relid) join pg_namespace n on n.oid = c.relnamespace
    group by 1 order by 2 desc, 1 limit ${mostRows}`.execute(db);
  return rows;
}

type IndexFinding = { index: string; table: string; bytes: bigint; finding: string };

/** Indexes that no statement used since the statistics began, and those that hold much empty space by estimate. */
async function findPoorIndexes(db: Database): Promise<IndexFinding[]> {
  const { rows } = await sql<IndexFinding & { filled: number | null }>`
    with one as (
      select i.indexrelid, i.indrelid, x.relpages::float8 * 8192 as size, x.reltuples as entries, i.indisunique,
             s.idx_scan, array_length(i.indkey::int2[], 1) as columns,
             coalesce((
               select sum(a.avg_width) from unnest(i.indkey::int2[]) k (attnum)
               join pg_attribute t on t.attrelid = i.indrelid and t.attnum = k.attnum
               join pg_stats a on a.schemaname = s.schemaname and a.tablename = s.relname and a.attname = t.attname
             ), 8) as width, s.schemaname, s.relname, s.indexrelname
      from pg_stat_user_indexes s join pg_index i using (indexrelid) join pg_class x on x.oid = i.indexrelid
      join pg_am m on m.oid = x.relam
      where m.amname = 'btree' and i.indisvalid and x.relpages::float8 * 8192 >= ${leastIndexBytes}
    ), estimated as (
      select *, entries * (width + 12) / 0.9 / nullif(size, 0) as filled from one
    )
    select format('%I.%I', schemaname, indexrelname) as index, format('%I.%I', schemaname, relname) as table,
           size::bigint as bytes, filled,
           case when idx_scan = 0 and not indisunique then 'no statement has used it'
                else format('about %s %% of it is empty', round(100 * (1 - filled)::numeric)) end as finding
    from estimated where (idx_scan = 0 and not indisunique) or filled < ${bloatedBelow}
    order by size desc limit ${mostRows}`.execute(db);
  return rows;
}

type ConnectionGroup = {
  application: string;
  user: string;
  state: string;
  connections: number;
  /** Seconds since the oldest transaction among them began. */
  oldestSeconds: number | null;
};

async function readConnections(db: Database): Promise<ConnectionGroup[]> {
  const { rows } = await sql<ConnectionGroup>`
    select application_name as application, coalesce(usename, '') as user, coalesce(state, 'hidden') as state,
           count(*)::int as connections, extract(epoch from now() - min(xact_start))::float8 as "oldestSeconds"
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    group by 1, 2, 3 order by 4 desc, 1, 3`.execute(db);
  return rows;
}

type DatabaseOverview = {
  bytes: bigint;
  version: string;
  maxConnections: number;
  connections: number;
  /** Part of reads that the cache served. */
  cacheHits: number | null;
  deadlocks: bigint;
  /** Transactions since the oldest that was not frozen; 2 billion is the end. */
  frozenAge: number;
  vacuums: { table: string; phase: string; share: number | null }[];
  /** Null: `pg_stat_statements` is not there. */
  statements: { query: string; calls: bigint; meanMs: number; totalMs: number }[] | null;
};

async function readDatabaseOverview(db: Database): Promise<DatabaseOverview> {
  const { rows } = await sql<Omit<DatabaseOverview, "vacuums" | "statements">>`
    select pg_database_size(current_database()) as bytes, current_setting('server_version') as version,
           current_setting('max_connections')::int as "maxConnections",
           (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
           blks_hit::float8 / nullif(blks_hit + blks_read, 0) as "cacheHits", deadlocks,
           (select age(datfrozenxid) from pg_database where datname = current_database()) as "frozenAge"
    from pg_stat_database where datname = current_database()`.execute(db);
  const vacuums = await sql<DatabaseOverview["vacuums"][number]>`
    select relid::regclass::text as table, phase, heap_blks_scanned::float8 / nullif(heap_blks_total, 0) as share
    from pg_stat_progress_vacuum where datname = current_database()`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("pg_stat_database does not know this database");
  return { ...row, vacuums: vacuums.rows, statements: await readSlowStatements(db) };
}

/** Statements by the time that they took in all. */
async function readSlowStatements(db: Database): Promise<DatabaseOverview["statements"]> {
  const found = await sql<{ schema: string | null }>`
    select (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace
            where e.extname = 'pg_stat_statements') as schema`.execute(db);
  const schema = found.rows[0]?.schema ?? null;
  if (schema === null) return null;
  const { rows } = await sql<NonNullable<DatabaseOverview["statements"]>[number]>`
    select left(query, 300) as query, calls, mean_exec_time as "meanMs", total_exec_time as "totalMs"
    from ${sql.id(schema, "pg_stat_statements")}
    where dbid = (select oid from pg_database where datname = current_database()) and query <> '<insufficient privilege>'
    order by total_exec_time desc limit ${mostRows}`.execute(db);
  return rows;
}

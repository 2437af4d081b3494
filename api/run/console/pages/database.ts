import { readSamples } from "#projections/log/operators.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment, formatCount, formatShare } from "#api/pages/kit/number.ts";
import { figures, panel, table } from "#api/pages/kit/panel.ts";
import { configuredProjections } from "#api/run/inspection/configured-projections.ts";
import { megabytes } from "#api/run/inspection/megabytes.ts";
import { findStaleSchemas } from "#api/run/inspection/stale-schemas.ts";
import { actionLink } from "../actions/action-link.ts";
import type { PageContent, Visit } from "../page/visit.ts";
import { timeChart } from "../parts/time-chart.ts";
import { type DatabaseOverview, findPoorIndexes, readConnections, readDatabaseOverview, readTableSizes } from "../reads/database-figures.ts";

const growthDays = 30;

/** Size and growth, statements, indexes, connections and vacuum. */
export async function databasePage({ db, config, now }: Visit): Promise<PageContent> {
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

import { sql } from "kysely";
import { type Html, html } from "#api/pages/kit/html.ts";
import { formatCount, moment } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { countFacts } from "#projections/log/facts.ts";
import { type JobFigures, readJobFigures } from "#projections/log/operators.ts";
import { kindNameOf, megabytes } from "../reports/present-fact.ts";
import type { RunningProcess } from "./figures.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";
import { readRate } from "./samples.ts";

/** Minutes over which readings of the chains are counted. */
const readingMinutes = 60;
const isReading = (kind: number) =>
  (kind > factKind.order_submitted && kind < factKind.clock_ticked) ||
  kind === factKind.recipients_read;

/** Processes, who works, their jobs, and what the sweeps of orders found. */
export async function workPage({ db, now, readProcesses }: ConsoleVisit): Promise<ConsoleContent> {
  const time = now();
  const [processes, leases, jobs, rate] = await Promise.all([
    readProcesses?.() ?? null,
    readLeases(db),
    readJobFigures(db),
    readRate(db, time, readingMinutes),
  ]);
  const counted = rate === null ? null : await countFacts(db, rate);
  const readings = counted?.counts.filter(({ kind }) => isReading(kind)) ?? [];
  const body = [
    html`<h1>Work</h1>`,
    panel({ id: "processes", title: "Processes", body: processTable(processes, time) }),
    panel({
      id: "leases",
      title: "Leases",
      about: "Roles in which one process works; the others stand by.",
      body: table(
        leases,
        [
          { head: "Role", cell: ({ role }) => role, isHead: true },
          { head: "Process", cell: ({ owner }) => owner },
          { head: "Holders so far", cell: ({ epoch }) => epoch.toString(), isNumber: true },
          {
            head: "State",
            cell: ({ seconds }) =>
              seconds > 0
                ? html`<span class="mark good">held</span>`
                : html`<span class="mark bad">nobody for ${Math.round(-seconds)} s</span>`,
          },
        ],
        { caption: "Leases", empty: "No process has worked yet." },
      ),
    }),
    panel({
      id: "jobs",
      title: "Jobs",
      about: "What goes on without a request. The process that leads a role runs its jobs.",
      body: jobTable(jobs, time),
    }),
    panel({
      id: "truth",
      title: "Order truth",
      about: `Differences between the chains and what the log said, found by sweeps and intake in the last ${readingMinutes} minutes: each is a reading that was appended.`,
      body: table(
        readings,
        [
          { head: "Reading", cell: ({ kind }) => kindNameOf(kind), isHead: true },
          { head: "Found", cell: ({ facts }) => formatCount(facts), isNumber: true },
        ],
        {
          caption: "Readings that differed",
          empty:
            rate === null
              ? "Not known yet: the log's head is sampled every minute."
              : "None: what the log said was true.",
        },
      ),
    }),
  ];
  return { title: "Work", body };
}

function processTable(processes: readonly RunningProcess[] | null, now: Date): Html {
  if (processes === null) {
    return html`<p class="empty">This console was started without a supervisor, which knows them.</p>`;
  }
  return table(
    processes,
    [
      { head: "Process", cell: ({ name }) => name, isHead: true },
      { head: "Id", cell: ({ pid }) => pid, isNumber: true },
      {
        head: "Memory",
        cell: ({ bytes }) => (bytes === null ? "not known" : megabytes(bytes)),
        isNumber: true,
      },
      { head: "Started", cell: ({ startedAt }) => moment(startedAt, now) },
      { head: "Starts", cell: ({ starts }) => starts, isNumber: true },
    ],
    { caption: "Processes", keyOf: ({ name }) => name },
  );
}

type Lease = {
  role: string;
  owner: string;
  epoch: bigint;
  /** Until it expires; negative: since it did. */
  seconds: number;
};

/** Which process works in each role that only one may work in. */
async function readLeases(db: Database): Promise<Lease[]> {
  const { rows } = await sql<Lease>`
    select role, owner, epoch, extract(epoch from expires_at - clock_timestamp())::float8 as seconds
    from (select * from ops.lease union all select * from ops.projecting_lease) held
    where role !~ '^projections' or expires_at > clock_timestamp() order by role`.execute(db);
  return rows;
}

/** What goes on without a request; what fails comes first. */
function jobTable(jobs: readonly JobFigures[], now: Date): Html {
  const ordered = jobs.toSorted((a, b) => Number(b.failure !== null) - Number(a.failure !== null));
  return table(
    ordered,
    [
      { head: "Job", cell: ({ name }) => name, isHead: true },
      { head: "Of", cell: ({ part }) => part },
      { head: "Runs", cell: ({ runs }) => formatCount(runs), isNumber: true },
      { head: "Failed", cell: ({ failures }) => formatCount(failures), isNumber: true },
      { head: "Took", cell: ({ durationMs }) => duration(durationMs), isNumber: true },
      { head: "Last run", cell: ({ startedAt }) => moment(startedAt.toISOString(), now) },
      {
        head: "Next at the latest",
        cell: ({ nextAt }) =>
          nextAt === null ? "when something happens" : moment(nextAt.toISOString(), now),
      },
      {
        head: "State",
        cell: ({ failure }) =>
          failure === null
            ? html`<span class="mark good">works</span>`
            : html`<span class="mark bad">fails</span> ${failure}`,
      },
    ],
    { caption: "Jobs", empty: "No job has run yet." },
  );
}

const duration = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;

import type { JobFigures } from "#projections/log/operators.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { moment, formatCount } from "#api/pages/kit/number.ts";
import { table } from "#api/pages/kit/panel.ts";

/** What goes on without a request; what fails comes first. */
export function jobTable(jobs: readonly JobFigures[], now: Date): Html {
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

import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { table } from "#api/pages/kit/panel.ts";
import type { ServiceProgress } from "#api/run/inspection/read-status.ts";

type Row = ServiceProgress["projections"][number];

/** How far the projections are, as `op status` prints it. */
export function projectionTable(
  rows: readonly Row[],
  now: Date,
  actionsOf?: (row: Row) => Html,
): Html {
  return table(
    rows,
    [
      { head: "Projection", cell: ({ name }) => name, isHead: true },
      { head: "Version", cell: (row) => versionOf(row), isNumber: true },
      { head: "Position", cell: ({ position }) => position ?? "none", isNumber: true },
      { head: "Lag, facts", cell: ({ lag }) => lag ?? "unknown", isNumber: true },
      { head: "Updated", cell: ({ updatedAt }) => moment(updatedAt, now) },
      { head: "Rebuild", cell: ({ rebuilding }) => rebuilding?.progress ?? "none" },
      { head: "Other tables", cell: otherTables },
      ...(actionsOf === undefined ? [] : [{ head: "Actions", cell: actionsOf }]),
    ],
    { caption: "Projections", keyOf: ({ name }) => name },
  );
}

const versionOf = ({ version, isCurrent }: Row): Html | number | string =>
  isCurrent
    ? (version ?? "none")
    : html`${version ?? "none"} <span class="mark bad">not this program's</span>`;

/** What the last rebuild replaced, and versions of other releases. */
function otherTables({ previous, others }: Row): string {
  const all = [
    ...(previous === null ? [] : [`version ${previous.version} at ${previous.position}`]),
    ...others.map(
      ({ schema, version, position }) => `version ${version} at ${position} (${schema})`,
    ),
  ];
  return all.length === 0 ? "none" : all.join(", ");
}

import { type Html, html } from "../../../serve/html/html.ts";
import { moment } from "../../../serve/site/parts/moment.ts";
import { table } from "../../../serve/site/parts/table.ts";
import type { ServiceProgress } from "../../inspection/read-status.ts";

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
      { head: "Previous tables", cell: ({ previous }) => previousOf(previous) },
      ...(actionsOf === undefined ? [] : [{ head: "Actions", cell: actionsOf }]),
    ],
    { caption: "Projections", keyOf: ({ name }) => name },
  );
}

const versionOf = ({ version, isCurrent }: Row): Html | number | string =>
  isCurrent
    ? (version ?? "none")
    : html`${version ?? "none"} <span class="mark bad">not this program's</span>`;

const previousOf = (previous: Row["previous"]): string =>
  previous === null ? "none" : `version ${previous.version} at ${previous.position}`;

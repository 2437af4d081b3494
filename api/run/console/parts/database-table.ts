import type { Html } from "../../../serve/html/html.ts";
import { formatCount } from "../../../serve/site/parts/number.ts";
import { table } from "../../../serve/site/parts/table.ts";
import type { OtherProgress } from "../reads/databases.ts";

/** The databases beside the one that the pages show. */
export const databaseTable = (others: readonly OtherProgress[]): Html =>
  table(
    others,
    [
      { head: "Database", cell: ({ name }) => name, isHead: true },
      { head: "Chains", cell: ({ chains }) => chains.join(", ") || "none" },
      {
        head: "Facts in the log",
        cell: ({ progress }) => (progress === null ? "unknown" : formatCount(progress.logHead)),
        isNumber: true,
      },
      {
        head: "Furthest lag of a projection, facts",
        cell: ({ progress }) => (progress === null ? "unknown" : furthestLag(progress)),
        isNumber: true,
      },
    ],
    { caption: "Other databases", keyOf: ({ name }) => name },
  );

const furthestLag = ({ projections }: NonNullable<OtherProgress["progress"]>): number =>
  Math.max(0, ...projections.map(({ lag }) => lag ?? 0));

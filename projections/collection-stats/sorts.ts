import { type Period, periods, salesColumn } from "./periods.ts";

const sorts = ["volume", "floor", "sales", "listed", "supply", "holders", "change"] as const;

export type CollectionOrder = {
  sort: (typeof sorts)[number];
  direction: "asc" | "desc";
  period: Period;
  /** Volume and sales are compared without wash trades. */
  excludesWash: boolean;
};

/** A figure that collections are sorted by. */
type SortFigure = {
  readonly table: "collection" | "holder_stats";
  /** SQL: its value. */
  readonly value: string;
  /**
   * SQL: whether a collection has it; null: every one does. Those without are not in its index: of a thousand new
   * contracts hardly one is ever listed or traded, and an entry in each index would be most of what a collection costs.
   */
  readonly isPresent: string | null;
};

/** Sort keys of collections without a floor or its change: below or above all others, so that they come last. */
const belowAll = -1_000_000_000n;
const aboveAll = 10n ** 90n;

/** The key of collections that do not have the figure. */
export function absentKey({ sort, direction }: CollectionOrder): bigint {
  if (sort !== "floor" && sort !== "change") return 0n;
  return direction === "asc" ? aboveAll : belowAll;
}

export function sortFigure({
  sort,
  period,
  excludesWash,
}: Omit<CollectionOrder, "direction">): SortFigure {
  if (sort === "supply" || sort === "holders") {
    return { table: "holder_stats", value: sort, isPresent: null };
  }
  if (sort === "floor" || sort === "change") {
    const value = sort === "floor" ? "floor_wei" : `"change_${period}"`;
    return { table: "collection", value, isPresent: `${value} is not null` };
  }
  const value = sort === "listed" ? sort : soldValue(sort, period, excludesWash);
  return { table: "collection", value, isPresent: `${value} <> 0` };
}

function soldValue(sort: "volume" | "sales", period: Period, excludesWash: boolean): string {
  const figure = sort === "volume" ? "wei" : "sales";
  const all = `"${salesColumn(figure, period)}"`;
  return excludesWash ? `(${all} - "${salesColumn(`wash_${figure}`, period)}")` : all;
}

/** The figures of all sorts by their values. */
export const sortFigures: ReadonlyMap<string, SortFigure> = new Map(
  sorts
    .flatMap((sort) =>
      periods.flatMap((period) =>
        [false, true].map((excludesWash) => sortFigure({ sort, period, excludesWash })),
      ),
    )
    .map((figure) => [figure.value, figure]),
);

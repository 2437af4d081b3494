import { sql } from "kysely";

/** Periods of the figures, in hours. They start at a full hour and end now. */
const periodHours = { "24h": 24, "7d": 168, "30d": 720 } as const;
export type Period = keyof typeof periodHours;

export const periods = Object.keys(periodHours) as Period[];

/** Sums over sales: count, wei in the chain's currency, count of those with a USD price, and 10⁻⁸ USD. */
export const salesFigures = ["sales", "wei", "priced", "usd_e8"] as const;

/** The column of a figure over a period; `all`: all time. */
export function salesColumn(figure: (typeof salesFigures)[number], period: Period | "all") {
  return `${figure}_${period}`;
}

export const salesColumns = salesFigures.flatMap((figure) =>
  ([...periods, "all"] as const).map((period) => salesColumn(figure, period)),
);

export const hoursOf = (period: Period) => sql.raw(`interval '${periodHours[period]} hours'`);

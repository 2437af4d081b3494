import { sql } from "kysely";

/** Windows that figures are of, in hours. They begin with a full hour and end with the present. */
const periodHours = { "24h": 24, "7d": 168, "30d": 720 } as const;
export type Period = keyof typeof periodHours;

export const periods = Object.keys(periodHours) as Period[];

/** What is summed over sales: how many, wei in the chain's currencies, how many of these have a price in USD, and 10⁻⁸ USD. */
export const tradedFigures = ["sales", "wei", "priced", "usd_e8"] as const;

/** Of a period; `all` of ever. */
export function tradedColumn(figure: (typeof tradedFigures)[number], period: Period | "all") {
  return `${figure}_${period}`;
}

export const tradedColumns = tradedFigures.flatMap((figure) =>
  ([...periods, "all"] as const).map((period) => tradedColumn(figure, period)),
);

export const hoursOf = (period: Period) => sql.raw(`interval '${periodHours[period]} hours'`);

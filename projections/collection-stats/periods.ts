import { sql } from "kysely";

/** Periods of the figures, in hours. They start at a full minute and end now. */
const periodHours = { "24h": 24, "7d": 168, "30d": 720 } as const;
export type Period = keyof typeof periodHours;

export const periods = Object.keys(periodHours) as Period[];

/** Sums over sales: count, wei in the chain's currency, wei of those with a USD price, and 10⁻⁸ USD. */
export const salesFigures = ["sales", "wei", "priced_wei", "usd_e8"] as const;
/** Sums over those of them that are wash trades. */
export const washFigures = ["wash_sales", "wash_wei"] as const;
type Figure = (typeof salesFigures)[number] | (typeof washFigures)[number];

/** The column of a figure over a period; `all`: all time. */
export function salesColumn<Name extends Figure, Of extends Period | "all">(
  figure: Name,
  period: Of,
) {
  return `${figure}_${period}` as const;
}

/** The columns of figures over each period, figure by figure. */
export const columnsOf = (figures: readonly Figure[]) =>
  figures.flatMap((figure) =>
    ([...periods, "all"] as const).map((period) => salesColumn(figure, period)),
  );

export const salesColumns = columnsOf([...salesFigures, ...washFigures]);

export const hoursOf = (period: Period) => sql.raw(`interval '${periodHours[period]} hours'`);

type Unit =
  | "ms"
  | "s"
  | "facts/s"
  | "requests/s"
  | "deliveries/s"
  | "ratio"
  | "B"
  | "MB"
  | "requests"
  | "readers";

/** One measurement, printed as a table row and a line of JSON. */
export type Figure = {
  figure: string;
  value: number;
  unit: Unit;
  /** An upper bound, for rates and ratios a lower bound; null: no goal. */
  goal: number | null;
  met: boolean | null;
  samples: number;
  min: number;
  max: number;
  /** Data and conditions of the measurement. */
  size: string;
};

type Percentile = { percent: number; goalMs: number | null };

/** Percentiles of durations by nearest rank: of 100 samples the 99th percentile is the second largest. */
export function percentileFigures(
  name: string,
  durationsMs: readonly number[],
  percentiles: readonly Percentile[],
  size: string,
): Figure[] {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (rank: number) => round(sorted[rank] ?? Number.NaN);
  return percentiles.map(({ percent, goalMs }) => {
    const value = at(Math.ceil((percent / 100) * sorted.length) - 1);
    return {
      figure: `${name} p${percent}`,
      value,
      unit: "ms",
      goal: goalMs,
      met: goalMs === null ? null : value <= goalMs,
      samples: sorted.length,
      min: at(0),
      max: at(sorted.length - 1),
      size,
    };
  });
}

const round = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;

type Goal = { unit: Unit; atLeast?: number; atMost?: number };

/** The median of samples. */
export function medianFigure(
  name: string,
  samples: readonly number[],
  { unit, atLeast, atMost }: Goal,
  size: string,
): Figure {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (rank: number) => rounded(sorted[rank] ?? Number.NaN, unit);
  const value = at(Math.ceil(sorted.length / 2) - 1);
  const goal = atLeast ?? atMost ?? null;
  const isMet = atLeast === undefined ? value <= (atMost ?? 0) : value >= atLeast;
  return {
    figure: name,
    value,
    unit,
    goal,
    met: goal === null ? null : isMet,
    samples: sorted.length,
    min: at(0),
    max: at(sorted.length - 1),
    size,
  };
}

const decimals: Record<Unit, number> = {
  ms: 1,
  s: 1,
  "facts/s": 0,
  "requests/s": 0,
  "deliveries/s": 0,
  ratio: 2,
  B: 1,
  MB: 0,
  requests: 0,
  readers: 0,
};

const rounded = (value: number, unit: Unit): number => Number(value.toFixed(decimals[unit]));

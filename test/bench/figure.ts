/** One measured number, as it is printed: a row of the table and a line of JSON. */
export type Figure = {
  figure: string;
  value: number;
  unit: "ms";
  /** At most this; null where nothing is promised. */
  goal: number | null;
  met: boolean | null;
  samples: number;
  min: number;
  max: number;
  /** What it was measured on. */
  size: string;
};

type Percentile = { percent: number; goalMs: number | null };

/** Percentiles of durations by nearest rank: of 100 samples the 99th percentile is the last but one. */
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

/** An axis from `from` to `to` with ticks at even distances. */
export type Scale = {
  readonly from: number;
  readonly to: number;
  /** From the lowest to the highest. */
  readonly ticks: readonly number[];
  /** Where a value is, from 0 to 1. */
  readonly at: (value: number) => number;
};

const steps = [1, 2, 2.5, 5, 10];
const wantedTicks = 4;

/** A scale whose ends are ticks, around all values. */
export function roundScale(values: readonly number[], { withZero = false } = {}): Scale {
  const all = values.filter(Number.isFinite);
  const low = Math.min(...all, ...(withZero ? [0] : []));
  const high = Math.max(...all, ...(withZero ? [0] : []));
  if (all.length === 0) return scaleOf(0, 1, 1);
  const span = high - low || Math.abs(high) || 1;
  const size = 10 ** Math.floor(Math.log10(span / wantedTicks));
  const step = size * (steps.find((one) => span / wantedTicks <= one * size) ?? 10);
  const from = Math.floor(low / step) * step;
  const to = Math.ceil(high / step) * step;
  return scaleOf(from, to > from ? to : from + step, step);
}

function scaleOf(from: number, to: number, step: number): Scale {
  const count = Math.round((to - from) / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => from + index * step);
  return { from, to, ticks, at: (value) => (value - from) / (to - from) };
}

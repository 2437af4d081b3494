import type { FigureSample } from "#projections/log/operators.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { height, place, plot, width, roundScale } from "#api/pages/kit/plot.ts";
import { formatNumber } from "#api/pages/kit/number.ts";
import { table } from "#api/pages/kit/panel.ts";

type TimeChart = {
  id: string;
  about: string;
  unit: string;
  samples: readonly FigureSample[];
  empty: string;
};

/** Milliseconds between samples beyond which the line has a gap: three hours. */
const gapMs = 3 * 60 * 60_000;

/** Samples over time as a line, with a table of at most 48 of them. */
export function timeChart({ id, about, unit, samples, empty }: TimeChart): Html {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || samples.length < 2) {
    return html`<p class="empty">${empty}</p>`;
  }
  const [from, to] = [first.takenAt.getTime(), last.takenAt.getTime()];
  const scale = roundScale(
    samples.map(({ value }) => value),
    { withZero: true },
  );
  const line = samples.map(({ takenAt, value }, index) => {
    const before = samples[index - 1]?.takenAt.getTime() ?? 0;
    const x = ((takenAt.getTime() - from) / (to - from || 1)) * width;
    const verb = takenAt.getTime() - before > gapMs ? "M" : "L";
    return `${verb}${place(x)} ${place(height * (1 - scale.at(value)))}`;
  });
  const step = Math.ceil(samples.length / 48);
  const shown = samples.filter((_, index) => (samples.length - 1 - index) % step === 0);
  return plot({
    id,
    label: `${about}: ${formatNumber(last.value)} ${unit} last, ${formatNumber(Math.max(...samples.map(({ value }) => value)))} at most`,
    scale,
    unit,
    shapes: [html`<path class="line" d="${line.join("")}"/>`],
    below: [from, (from + to) / 2, to].map((time) => exact(new Date(time))),
    table: table(
      shown,
      [
        { head: "Time (UTC)", cell: ({ takenAt }) => exact(takenAt), isHead: true },
        { head: unit, cell: ({ value }) => formatNumber(value), isNumber: true },
      ],
      { caption: about, isCaptionShown: true },
    ),
  });
}

const exact = (time: Date): string => time.toISOString().slice(0, 16).replace("T", " ");

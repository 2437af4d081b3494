import { type Html, html } from "#api/pages/kit/html.ts";
import { formatNumber, moment } from "#api/pages/kit/number.ts";
import { table } from "#api/pages/kit/panel.ts";
import { height, place, plot, roundScale, timeTicks, width } from "#api/pages/kit/plot.ts";
import { shortHex, shortId } from "#api/pages/kit/text.ts";
import type { PlacedFact } from "#projections/log/facts.ts";
import type { FigureSample } from "#projections/log/operators.ts";
import { kindNameOf } from "../reports/present-fact.ts";
import type { ServiceProgress } from "../reports/read-status.ts";

type Chain = ServiceProgress["chains"][number];

const columns = [
  ["head", "Head"],
  ["indexed", "Indexed"],
  ["recorded", "Recorded"],
  ["finalized", "Final"],
  ["lagBlocks", "Lag, blocks"],
  ["lagSeconds", "Lag, s"],
  ["proved", "History proved"],
] as const satisfies readonly (readonly [keyof Chain, string])[];

/** How far the chains are, as `op status` prints it. */
export const chainTable = (chains: readonly Chain[]): Html =>
  table(
    chains,
    [
      { head: "Chain", cell: ({ chainId }) => chainId, isHead: true },
      ...columns.map(([name, head]) => ({
        head,
        cell: (chain: Chain) => chain[name] ?? "unknown",
        isNumber: true,
      })),
    ],
    { caption: "Chains", keyOf: ({ chainId }) => `${chainId}` },
  );

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
      { head: "Other tables", cell: otherTables },
      ...(actionsOf === undefined ? [] : [{ head: "Actions", cell: actionsOf }]),
    ],
    { caption: "Projections", keyOf: ({ name }) => name },
  );
}

const versionOf = ({ version, isCurrent }: Row): Html | number | string =>
  isCurrent
    ? (version ?? "none")
    : html`${version ?? "none"} <span class="mark bad">not this program's</span>`;

/** What the last rebuild replaced, and versions of other releases. */
function otherTables({ previous, others }: Row): string {
  const all = [
    ...(previous === null ? [] : [`version ${previous.version} at ${previous.position}`]),
    ...others.map(
      ({ schema, version, position }) => `version ${version} at ${position} (${schema})`,
    ),
  ];
  return all.length === 0 ? "none" : all.join(", ");
}

type Options = {
  caption: string;
  /** Whether a fact is effective, where it is known. */
  stateOf?: (fact: PlacedFact) => Html | string;
};

/** Facts, a row each, with a way to the life of each. */
export function factTable(facts: readonly PlacedFact[], { caption, stateOf }: Options): Html {
  return table(
    facts,
    [
      {
        head: "Position",
        cell: ({ position }) =>
          html`<a href="/log/${position.toString()}">${position.toString()}</a>`,
        isHead: true,
      },
      { head: "Kind", cell: ({ kind }) => kindNameOf(kind) },
      ...(stateOf === undefined ? [] : [{ head: "State", cell: stateOf }]),
      { head: "Chain", cell: ({ chainId }) => chainId ?? "none" },
      { head: "Block or time", cell: (fact) => placeOf(fact) },
      { head: "Contract", cell: ({ contract }) => hex(contract) },
      {
        head: "Token",
        cell: ({ tokenId }) =>
          tokenId === null
            ? ""
            : html`<span title="${tokenId.toString()}">${shortId(tokenId.toString())}</span>`,
      },
      {
        head: "Amount",
        cell: ({ amount }) =>
          amount === null
            ? ""
            : html`<span title="${amount.toString()}">${shortId(amount.toString())}</span>`,
        isNumber: true,
      },
      { head: "From", cell: ({ from }) => hex(from) },
      { head: "To", cell: ({ to }) => hex(to) },
      { head: "Order", cell: ({ orderHash }) => hex(orderHash) },
    ],
    { caption, keyOf: ({ position }) => position.toString() },
  );
}

function placeOf({ block, logIndex, recordedAt }: PlacedFact): Html | string {
  if (block !== null) return `${block.number}${logIndex === null ? "" : `, log ${logIndex}`}`;
  return recordedAt === null ? "" : recordedAt.toISOString().slice(0, 19).replace("T", " ");
}

const hex = (text: string | null): Html | string =>
  text === null ? "" : html`<code title="${text}">${shortHex(text)}</code>`;

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
    below: timeTicks(from, Math.max(to, from + 1)),
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

import { type Html, html } from "#api/pages/kit/html.ts";
import { moment } from "#api/pages/kit/number.ts";
import { panel, table } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import { kindNameOf, type QuarantinedFact, readQuarantinedFacts } from "../reports/present-fact.ts";
import { readServiceProgress, type ServiceProgress } from "../reports/read-status.ts";
import type { RebuildPace } from "./figures.ts";
import { actionLink } from "./known-actions.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";
import { projectionTable } from "./tables.ts";

/** The projections with their rebuilds, and the facts that they exclude. */
export async function projectionsPage(visit: ConsoleVisit): Promise<ConsoleContent> {
  const { db, config, fetchHead, now, measureRebuilds } = visit;
  const [progress, quarantined] = await Promise.all([
    readServiceProgress(db, config, fetchHead),
    readQuarantinedFacts(db),
  ]);
  const time = now();
  const paces = measureRebuilds(progress, time);
  const actions = ({ name }: { name: string }) =>
    html`${actionLink("Verify", "verify", name)} ${actionLink("Rebuild", "rebuild", name)}`;
  const body = [
    html`<h1>Projections</h1>`,
    panel({
      id: "positions",
      title: "How far",
      about: `The log's head is ${progress.logHead}.`,
      body: projectionTable(progress.projections, time, actions),
    }),
    panel({ id: "rebuilds", title: "Rebuilds", body: rebuildTable(progress, paces) }),
    panel({
      id: "quarantine",
      title: "Quarantine",
      about:
        "Facts that a projection failed to apply and excludes. Release them once the cause is fixed.",
      body: quarantineTable(quarantined, time),
    }),
  ];
  return { title: "Projections", body };
}

function rebuildTable(
  { projections, logHead }: ServiceProgress,
  paces: ReadonlyMap<string, RebuildPace>,
): Html {
  const rebuilt = projections.flatMap(({ name, rebuilding }) =>
    rebuilding === null ? [] : [{ name, rebuilding }],
  );
  return table(
    rebuilt,
    [
      { head: "Projection", cell: ({ name }) => name, isHead: true },
      { head: "Step", cell: ({ rebuilding }) => rebuilding.progress },
      {
        head: "Position",
        cell: ({ name, rebuilding: { position } }) =>
          html`${position} <progress max="${logHead}" value="${position}" aria-label="Rebuild of ${name}"></progress>`,
        isNumber: true,
      },
      {
        head: "Facts per second",
        cell: ({ name }) => paces.get(name)?.perSecond?.toFixed(0) ?? "not known",
        isNumber: true,
      },
      {
        head: "Seconds left",
        cell: ({ name }) => paces.get(name)?.secondsLeft ?? "not known",
        isNumber: true,
      },
      { head: "Resumed by", cell: ({ rebuilding: { command } }) => html`<code>${command}</code>` },
    ],
    { caption: "Rebuilds", empty: "None runs, and none was interrupted." },
  );
}

function quarantineTable(quarantined: readonly QuarantinedFact[], now: Date): Html {
  return table(
    quarantined,
    [
      { head: "Projection", cell: ({ entry }) => entry.projection, isHead: true },
      {
        head: "Fact",
        cell: ({ entry }) =>
          html`<a href="/log/${entry.fact.toString()}">${entry.fact.toString()}</a>`,
        isNumber: true,
      },
      { head: "Kind", cell: ({ fact }) => (fact === undefined ? "" : kindNameOf(fact.kind)) },
      { head: "Error", cell: ({ entry }) => foreignText(entry.error ?? "", 300) },
      { head: "Since", cell: ({ entry }) => moment(entry.recordedAt.toISOString(), now) },
      {
        head: "Action",
        cell: ({ entry }) => actionLink("Release", "release", `${entry.fact} ${entry.projection}`),
      },
    ],
    {
      caption: "Quarantined facts",
      empty: "No fact is quarantined.",
      keyOf: ({ entry }) => `${entry.projection} ${entry.fact}`,
    },
  );
}

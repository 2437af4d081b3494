import { factKind } from "#projections/log/fact-kinds.ts";
import { type FactLife, readFactLife, readFactsAfter } from "#projections/log/facts.ts";
import { type Html, html } from "#api/pages/kit/html.ts";
import { exactTime } from "#api/pages/kit/number.ts";
import { details, panel } from "#api/pages/kit/panel.ts";
import { linksFor } from "#api/run/inspection/explain-row.ts";
import { presentFact } from "#api/run/inspection/present-fact.ts";
import { readServiceProgress } from "#api/run/inspection/read-status.ts";
import { stringify } from "#api/run/inspection/stringify.ts";
import { actionLink } from "../actions/action-link.ts";
import { type PageContent, unknown, type Visit } from "../page/visit.ts";

/** A fact and its life: appended, retracted and readopted with its block, quarantined and released, applied. */
export async function factPage(visit: Visit): Promise<PageContent> {
  const { db, config, fetchHead, parameter } = visit;
  const text = parameter("position");
  const position = /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : 0n;
  const [fact] = await readFactsAfter(
    db,
    { kinds: null, chainIds: null, after: position - 1n },
    position,
    1,
  );
  if (position === 0n || fact === undefined) {
    return unknown(
      "No such fact",
      html`<section class="refused"><h1>There is no fact ${text}</h1><p><a href="/log">Log</a></p></section>`,
    );
  }
  const [life, { projections }] = await Promise.all([
    readFactLife(db, position),
    readServiceProgress(db, config, fetchHead),
  ]);
  const { payload, kind, block, ...columns } = presentFact(fact);
  const links = linksFor(config, fact);
  const readBy = projections
    .filter((one) => (one.position ?? 0) >= Number(position))
    .map(({ name }) => name);
  const body = [
    html`<h1>Fact ${position.toString()}: ${kind}</h1>`,
    panel({
      id: "columns",
      title: "What it holds",
      body: details([
        ...(block === null
          ? []
          : ([
              [
                "block",
                html`${block.number} <code>${block.hash}</code>${links !== null && html` <a href="${links.block}">explorer</a>`}`,
              ],
              ["block time", exactTime(block.timestamp)],
            ] as [string, Html | string][])),
        ...Object.entries(columns)
          .filter(
            ([name, value]) =>
              value !== null && !["counts", "droppedAt", "position"].includes(name),
          )
          .map(([name, value]): [string, Html] => [
            name,
            html`<code>${value instanceof Date ? value.toISOString() : String(value)}</code>`,
          ]),
      ]),
    }),
    panel({
      id: "life",
      title: "Its life",
      body: html`<ol class="life">${lifeOf(position, life, readBy)}</ol>`,
    }),
    html`${payload !== null && panel({ id: "payload", title: "Payload", body: html`<pre class="output" tabindex="0">${stringify(payload, 2)}</pre>` })}`,
    html`<p><a class="button" href="/log/${(position - 1n).toString()}">Fact before</a> <a class="button" href="/log/${(position + 1n).toString()}">Fact after</a></p>`,
  ];
  return { title: `Fact ${position}`, body };
}

function lifeOf(
  position: bigint,
  { blockStates, quarantine, excludedBy }: FactLife,
  readBy: readonly string[],
): Html[] {
  const at = (time: Date | null) => (time === null ? "" : `, ${exactTime(time.toISOString())}`);
  const link = (one: bigint) => html`<a href="/log/${one.toString()}">${one.toString()}</a>`;
  const events = [
    ...blockStates.map((one) => ({
      position: one.position,
      text: html`its block was ${one.kind === factKind.block_retracted ? "retracted" : "readopted"} by fact ${link(one.position)}${at(one.recordedAt)}`,
    })),
    ...quarantine.map((one) => ({
      position: one.position,
      text: html`${one.kind === factKind.fact_quarantined ? "quarantined" : "released"} for ${one.projection} by fact ${link(one.position)}${at(one.recordedAt)}${one.error !== null && html`: ${one.error}`}`,
    })),
  ].toSorted((one, other) => Number(one.position - other.position));
  const isRetracted = blockStates.at(-1)?.kind === factKind.block_retracted;
  return [
    html`<li>appended at position ${position.toString()}</li>`,
    ...events.map(({ text }) => html`<li>${text}</li>`),
    html`<li>${isRetracted ? "not effective: its block is retracted" : "effective"}; projections that have read up to it: ${readBy.length === 0 ? "none" : readBy.join(", ")}</li>`,
    ...excludedBy.map(
      (name) =>
        html`<li>excluded by ${name} ${actionLink("Release", "release", `${position} ${name}`)}</li>`,
    ),
  ];
}

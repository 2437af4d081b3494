import { type Html, html } from "#api/pages/kit/html.ts";
import { exactTime } from "#api/pages/kit/number.ts";
import { details, panel } from "#api/pages/kit/panel.ts";
import { foreignText } from "#api/pages/kit/text.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { type FactLife, readFactLife, readFactsAfter } from "#projections/log/facts.ts";
import { explainRow, finders, linksFor, verdictOf } from "../reports/explain-row.ts";
import { presentFact, stringify } from "../reports/present-fact.ts";
import { readServiceProgress } from "../reports/read-status.ts";
import { actionLink } from "./known-actions.ts";
import { type ConsoleContent, type ConsoleVisit, refusalContent } from "./page.ts";
import { factTable } from "./tables.ts";

/** A fact and its life: appended, retracted and readopted with its block, quarantined and released, applied. */
export async function factPage(visit: ConsoleVisit): Promise<ConsoleContent> {
  const { db, config, fetchHead, key } = visit;
  const text = key("position");
  const position = /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : 0n;
  const [fact] = await readFactsAfter(
    db,
    { kinds: null, chainIds: null, after: position - 1n },
    position,
    1,
  );
  if (position === 0n || fact === undefined) {
    const why = html`There is no fact ${foreignText(text, 60)}.`;
    return refusalContent({ title: "No such fact", why, status: 404, way: ["/log", "Log"] });
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

/** Facts that are listed at most. */
const most = 500;

class BadId extends Error {}

/** The facts that a row was derived from: `op explain` as a page. `what` may be a fact, by its position. */
export async function rowPage(visit: ConsoleVisit): Promise<ConsoleContent> {
  const { db, config, parameter } = visit;
  const [what, id] = [parameter("what"), parameter("id").trim()];
  if (what === "fact") {
    return factPage({ ...visit, key: () => id });
  }
  const find = Object.hasOwn(finders, what) ? finders[what] : undefined;
  const refuse = (message: string): never => {
    throw new BadId(message);
  };
  const found = await (async () => find?.(db, id, refuse) ?? null)().catch((error: unknown) => {
    if (error instanceof BadId) return error;
    throw error;
  });
  if (found === null || found instanceof BadId) {
    const why = found === null ? `There is no ${what === "" ? "row" : what} ${id}` : found.message;
    return refusalContent({
      title: "No such row",
      why: `${why}.`,
      status: 404,
      way: ["/log", "Log"],
    });
  }
  const { content, facts } = await explainRow(db, config, { what, id, subject: found, most });
  const body = [
    html`<h1>${what} ${id}</h1>`,
    panel({
      id: "rows",
      title: "As it is served",
      body: html`<pre class="output" tabindex="0">${stringify(content.rows, 2)}</pre>`,
    }),
    panel({
      id: "facts",
      title: `${content.total} facts, in chain order`,
      about: `As of position ${content.position} of ${found.projection}.${content.total > facts.length ? ` The first ${facts.length} are shown.` : ""}`,
      body: factTable(
        facts.map(({ fact }) => fact),
        { caption: "Facts of the row", stateOf: verdictOf },
      ),
    }),
  ];
  return { title: `${what} ${id}`, body };
}

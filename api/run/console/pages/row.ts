import { html } from "#api/pages/kit/html.ts";
import { panel } from "#api/pages/kit/panel.ts";
import { explainRow, verdictOf } from "#api/run/inspection/explain-row.ts";
import { finders } from "#api/run/inspection/find-subject.ts";
import { stringify } from "#api/run/inspection/stringify.ts";
import { type PageContent, unknown, type Visit } from "../page/visit.ts";
import { factTable } from "../parts/fact-table.ts";
import { factPage } from "./fact.ts";

/** Facts that are listed at most. */
const most = 500;

class BadId extends Error {}

/** The facts that a row was derived from: `op explain` as a page. `what` may be a fact, by its position. */
export async function rowPage(visit: Visit): Promise<PageContent> {
  const { db, config, parameter } = visit;
  const [what, id] = [parameter("what"), parameter("id").trim()];
  if (what === "fact") {
    return factPage({
      ...visit,
      parameter: (name) => (name === "position" ? id : parameter(name)),
    });
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
    return unknown(
      "No such row",
      html`<section class="refused"><h1>No such row</h1><p>${why}. <a href="/log">Log</a></p></section>`,
    );
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

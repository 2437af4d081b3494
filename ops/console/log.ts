import { type Html, html } from "#api/pages/kit/html.ts";
import { pageLink } from "#api/pages/kit/links.ts";
import { formatCount } from "#api/pages/kit/number.ts";
import { nextPage, panel, table } from "#api/pages/kit/panel.ts";
import { chainIds } from "#chains/index.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type FactKind, factKind } from "#projections/log/fact-kinds.ts";
import { countFacts, readFactsBefore } from "#projections/log/facts.ts";
import { finders } from "../reports/explain-row.ts";
import { isKind, kindNameOf } from "../reports/present-fact.ts";
import type { ConsoleContent, ConsoleVisit } from "./page.ts";
import { readRate } from "./samples.ts";
import { factTable } from "./tables.ts";

const perPage = 50;

/** The log's tail with filters, facts per second by kind, and ways to one fact and to one row. */
export async function logPage(visit: ConsoleVisit): Promise<ConsoleContent> {
  const { db, now, parameter } = visit;
  const kind = isKind(parameter("kind")) ? (parameter("kind") as FactKind) : null;
  const chainId = chainIds.find((one) => `${one}` === parameter("chain")) ?? null;
  const head = await readLogHead(db);
  const before = /^[1-9]\d{0,17}$/.test(parameter("before"))
    ? BigInt(parameter("before"))
    : head + 1n;
  const filter = {
    kinds: kind === null ? null : [factKind[kind]],
    chainIds: chainId === null ? null : [chainId],
  };
  const [page, rate] = await Promise.all([
    readFactsBefore(db, filter, before, perPage),
    readRate(db, now()),
  ]);
  const next =
    page.next === null
      ? null
      : pageLink("/log", { kind: kind ?? "", chain: chainId ?? "", before: `${page.next}` });
  const body = [
    html`<h1>Log</h1>`,
    panel({ id: "find", title: "Find", body: [positionForm(), rowForm()] }),
    panel({
      id: "tail",
      title: kind === null ? "Newest facts" : `Newest facts: ${kind}`,
      body: [
        filterForm(kind, chainId),
        factTable(page.facts, { caption: "Facts, newest first" }),
        html`${page.facts.length < perPage && page.next !== null && html`<p class="empty">None of these in the positions that one page searches.</p>`}${nextPage(next)}`,
      ],
    }),
    panel({ id: "rates", title: "Facts by kind", body: await rates(visit, rate) }),
  ];
  return { title: "Log", body, isLive: parameter("before") === "" };
}

async function rates(
  { db }: ConsoleVisit,
  rate: Awaited<ReturnType<typeof readRate>>,
): Promise<Html> {
  if (rate === null) {
    return html`<p class="empty">The head of the log is sampled every minute while the console runs; there is no sample yet.</p>`;
  }
  const { counts, after, upTo } = await countFacts(db, rate);
  const part = Number(rate.upTo - rate.after) / Math.max(1, Number(upTo - after));
  return table(
    counts,
    [
      { head: "Kind", cell: (one) => kindNameOf(one.kind), isHead: true },
      { head: "Facts", cell: ({ facts }) => formatCount(facts), isNumber: true },
      {
        head: "Per second",
        cell: ({ facts }) => ((facts * part) / rate.seconds).toFixed(2),
        isNumber: true,
      },
    ],
    {
      caption: `Facts after position ${after} by kind`,
      isCaptionShown: true,
      empty: "No fact was appended in the last minutes.",
    },
  );
}

const positionForm = (): Html =>
  html`<form class="filters" action="/log/row" method="get"><input type="hidden" name="what" value="fact">
<div><label for="position">Position of a fact</label><input id="position" name="id" inputmode="numeric" pattern="[0-9]{1,18}" required></div><div><button>Show its life</button></div></form>`;

const rowForm = (): Html =>
  html`<form class="filters" action="/log/row" method="get">
<div><label for="what">Row</label><select id="what" name="what">${Object.keys(finders).map((one) => html`<option>${one}</option>`)}</select></div>
<div><label for="id">Id</label><input id="id" name="id" required maxlength="200" aria-describedby="id-form"></div><div><button>Explain</button></div></form>
<p class="quiet" id="id-form">listing, bid: its id; sale: its saleId; token: chain:contract:id; collection: chain:slug or chain:address</p>`;

const filterForm = (kind: FactKind | null, chainId: number | null): Html =>
  html`<form class="filters" action="/log" method="get">
<div><label for="kind">Kind</label><select id="kind" name="kind" data-submits><option value="">all</option>${Object.keys(factKind).map((one) => html`<option${one === kind && html` selected`}>${one}</option>`)}</select></div>
<div><label for="chain">Chain</label><select id="chain" name="chain" data-submits><option value="">all</option>${chainIds.map((one) => html`<option${one === chainId && html` selected`}>${one}</option>`)}</select></div>
<div><button>Apply</button></div></form>`;

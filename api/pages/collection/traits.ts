import { type TraitType, traits } from "#api/v1/collections/traits.ts";
import { type Html, html } from "../kit/html.ts";
import { linksByValue, listingLink } from "../kit/links.ts";
import { amount, coinSymbol, formatCount, formatShare, none } from "../kit/number.ts";
import { nextPage, panel, table } from "../kit/panel.ts";
import { shareBar } from "../kit/plot.ts";
import { foreignText, plainText } from "../kit/text.ts";
import type { Visit } from "../kit/visit.ts";
import { filterLink, type ShownCollection, shareOfSupply } from "./head.ts";

/** Values of a type that are shown without asking for the type. */
const maxValues = 20;
/** Types on a page. */
const maxTypes = 12;

/** Traits with their counts and floors. */
export async function traitsView(visit: Visit, row: ShownCollection): Promise<Html> {
  const { chainId, read, parameter } = visit;
  const type = parameter("type");
  const cursor = parameter("cursor");
  const { data, meta } = await read(traits, {
    params: { collection: row.slug ?? row.address },
    query: { chainId: String(chainId), type: type || undefined, cursor: cursor || undefined },
  });
  const next = meta?.next_cursor ?? null;
  const isOne = type !== "";
  const shown = isOne ? data.traitTypes : data.traitTypes.slice(0, maxTypes);
  if (shown.length === 0)
    return html`<p class="empty">No traits are known: the metadata is not fetched yet, or has none.</p>`;
  const rest = data.traitTypes.slice(maxTypes);
  return html`<div class="columns">${shown.map((one, index) => typePanel(one, { row, isOne, index }))}</div>
${!isOne && rest.length > 0 && html`<p class="about">Further types: ${rest.map((one) => html`<a class="chip" href="${filterLink(row, { view: "traits", type: one.type })}">${foreignText(one.type, 60)}</a> `)}</p>`}
${nextPage(next && filterLink(row, { view: "traits", type, cursor: next }))}`;
}

type Place = { row: ShownCollection; isOne: boolean; index: number };

function typePanel({ type, values, truncated }: TraitType, { row, isOne, index }: Place): Html {
  const { chainId } = row;
  const symbol = coinSymbol(chainId);
  const shown = isOne ? values.slice(0, 100) : values.slice(0, maxValues);
  const isCut = shown.length < values.length || truncated;
  const tokensWith = linksByValue(filterLink(row, {}), `traits[${type}]`);
  return panel({
    id: `trait-${index}`,
    title: plainText(type, 60),
    body: html`${table(
      shown,
      [
        {
          head: "Value",
          isHead: true,
          cell: ({ value }) => html`<a href="${tokensWith(value)}">${foreignText(value, 60)}</a>`,
        },
        { head: "Tokens", cell: ({ count }) => formatCount(count), isNumber: true },
        {
          head: "Share",
          cell: ({ count }) => shareCell(shareOfSupply(row, count)),
          isNumber: true,
        },
        { head: "Listed", cell: ({ listed }) => formatCount(listed), isNumber: true },
        {
          head: "Floor",
          isNumber: true,
          cell: ({ floorWei, usd, askId }) =>
            askId === null
              ? none
              : html`<a href="${listingLink(chainId, askId)}">${amount({ wei: floorWei, symbol, usd })}</a>`,
        },
      ],
      { caption: `Values of ${plainText(type, 60)}` },
    )}${isCut && !isOne && html`<p><a href="${filterLink(row, { view: "traits", type })}">All values of this type</a></p>`}`,
  });
}

const shareCell = (share: number | null): Html =>
  share === null ? none : html`${formatShare(share)}${shareBar(share)}`;

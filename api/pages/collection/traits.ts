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
export const traitsView = async (visit: Visit, row: ShownCollection): Promise<Html> =>
  (await traitsAt(visit, row, "")).body;

/** The same of a moment; "": now. */
export async function traitsAt(visit: Visit, row: ShownCollection, at: string) {
  const { chainId, read, parameter } = visit;
  const type = parameter("type");
  const cursor = parameter("cursor") || undefined;
  const own = { chainId: String(chainId), type: type || undefined, cursor, at: at || undefined };
  const params = { collection: row.slug ?? row.address };
  const { data, meta } = await read(traits, { params, query: own });
  const link = (of: { readonly type: string; readonly cursor?: string }) =>
    filterLink(row, { view: "traits", ...of, at: at || undefined });
  const next = meta?.next_cursor ?? null;
  const place = { row, type, isPast: at !== "", link };
  return {
    body: html`${typesOf(data.traitTypes, place)}${nextPage(next && link({ type, cursor: next }))}`,
    point: meta?.at ?? null,
  };
}

type Place = {
  readonly row: ShownCollection;
  /** The only one that is shown; "": the first of all. */
  readonly type: string;
  readonly isPast: boolean;
  readonly link: (of: { readonly type: string }) => string;
};

function typesOf(traitTypes: readonly TraitType[], place: Place): Html {
  const { type, link } = place;
  const isOne = type !== "";
  const shown = isOne ? traitTypes : traitTypes.slice(0, maxTypes);
  if (shown.length === 0)
    return html`<p class="empty">No traits are known: the metadata is not fetched yet, or has none.</p>`;
  const rest = traitTypes.slice(maxTypes);
  return html`<div class="columns">${shown.map((one, index) => typePanel(one, index, place))}</div>
${!isOne && rest.length > 0 && html`<p class="about">Further types: ${rest.map((one) => html`<a class="chip" href="${link({ type: one.type })}">${foreignText(one.type, 60)}</a> `)}</p>`}
`;
}

function typePanel({ type, values, truncated }: TraitType, index: number, place: Place): Html {
  const { row, isPast, link } = place;
  const { chainId } = row;
  const isOne = place.type !== "";
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
          // Which tokens of then had it is not shown.
          cell: ({ value }) =>
            isPast
              ? foreignText(value, 60)
              : html`<a href="${tokensWith(value)}">${foreignText(value, 60)}</a>`,
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
    )}${isCut && !isOne && html`<p><a href="${link({ type })}">All values of this type</a></p>`}`,
  });
}

const shareCell = (share: number | null): Html =>
  share === null ? none : html`${formatShare(share)}${shareBar(share)}`;

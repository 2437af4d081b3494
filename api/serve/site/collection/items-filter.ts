import { listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { tokenSorts } from "#projections/tokens/read-token-filter.ts";
import { type Html, html } from "#api/serve/html/html.ts";
import type { TraitType } from "#api/serve/views/trait.ts";
import type { Visit } from "../page/visit.ts";
import { coinOf } from "../parts/chain.ts";
import { linksByValue } from "../parts/links.ts";
import { marketplaceName } from "../parts/marketplace-name.ts";
import { formatCount } from "../parts/number.ts";
import { foreignText, plainText } from "../parts/text.ts";
import { type CollectionRow, filterLink } from "./head.ts";

/** What a visitor asked the items to be like. "" is anything. */
export type ItemsFilter = {
  readonly sort: string;
  readonly listed: string;
  readonly marketplace: string;
  readonly minPrice: string;
  readonly maxPrice: string;
  readonly traits: readonly (readonly [type: string, value: string])[];
};

const sortTexts: Record<(typeof tokenSorts)[number], string> = {
  token_id: "Token id",
  price_asc: "Price, lowest first",
  price_desc: "Price, highest first",
  rarity: "Rarest first",
  recently_listed: "Recently listed",
};

export function itemsFilterOf({ parameter, entries }: Visit): ItemsFilter {
  const oneOf = (name: "sort" | "listed" | "marketplace", known: readonly string[]) =>
    known.includes(parameter(name)) ? parameter(name) : "";
  return {
    sort: oneOf("sort", tokenSorts),
    listed: oneOf("listed", ["true", "false"]),
    marketplace: oneOf("marketplace", listingMarketplaces),
    minPrice: decimalOf(parameter("min_price")),
    maxPrice: decimalOf(parameter("max_price")),
    traits: entries("traits").slice(0, 5),
  };
}

/** Prices that the form lets pass. */
const pricePattern = "[0-9]{1,30}([.][0-9]{0,18})?|[.][0-9]{1,18}";

/** `.5` and `5.` as the API takes them: `0.5` and `5`; "" for what is no price. */
function decimalOf(text: string): string {
  if (!new RegExp(`^(?:${pricePattern})$`).test(text)) return "";
  const [whole = "", part = ""] = text.split(".");
  return `${whole || "0"}${part && `.${part}`}`;
}

/** Whether items must be found by their listings. */
export const isByListing = ({ marketplace, minPrice, maxPrice }: ItemsFilter): boolean =>
  marketplace !== "" || minPrice !== "" || maxPrice !== "";

/** The collection's items with this filter. */
export function itemsLink(row: CollectionRow, filter: ItemsFilter, cursor = ""): string {
  const { sort, listed, marketplace, minPrice, maxPrice, traits } = filter;
  return filterLink(row, {
    sort,
    listed,
    marketplace,
    min_price: minPrice,
    max_price: maxPrice,
    cursor,
    ...Object.fromEntries(traits.map(([type, value]) => [`traits[${type}]`, value])),
  });
}

/** A form that works without scripts. */
export function filterForm(row: CollectionRow, filter: ItemsFilter): Html {
  const { chainId, slug, address } = row;
  const { traits } = filter;
  const coin = coinOf(chainId);
  return html`<form class="filters" method="get" action="/collections/${encodeURIComponent(slug ?? address)}">
<input type="hidden" name="chainId" value="${chainId}">
${traits.map(([type, value]) => html`<input type="hidden" name="traits[${type}]" value="${value}">`)}
<label>Sort ${choice(
    "sort",
    filter.sort,
    Object.entries(sortTexts).map(([value, text]) => [value === "token_id" ? "" : value, text]),
  )}</label>
<label>Status ${choice("listed", filter.listed, [
    ["", "All items"],
    ["true", "Listed"],
    ["false", "Not listed"],
  ])}</label>
<label>Marketplace ${choice("marketplace", filter.marketplace, [["", "Any"], ...listingMarketplaces.map((one) => [one, marketplaceName(one)] as const)])}</label>
<label>Min. price, ${coin} <input name="min_price" inputmode="decimal" pattern="${pricePattern}" value="${filter.minPrice}"></label>
<label>Max. price, ${coin} <input name="max_price" inputmode="decimal" pattern="${pricePattern}" value="${filter.maxPrice}"></label>
<button>Apply</button>
</form>
${traits.length > 0 && html`<div class="filters chips">${traits.map((one) => traitChip(row, filter, one))}</div>`}`;
}

function choice(name: string, chosen: string, all: readonly (readonly [string, string])[]): Html {
  return html`<select name="${name}" data-submits>${all.map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)}</select>`;
}

type Trait = ItemsFilter["traits"][number];

function traitChip(row: CollectionRow, filter: ItemsFilter, trait: Trait): Html {
  const [type, value] = trait;
  const traits = filter.traits.filter((one) => one !== trait);
  return html`<a class="chip" href="${itemsLink(row, { ...filter, traits })}"><span>${foreignText(type, 40)}: ${foreignText(value, 40)}</span> <span aria-hidden="true">×</span><span class="unseen">: remove this filter</span></a>`;
}

const maxTypes = 12;
const maxValues = 12;

/** Values of traits that narrow the items further. */
export function traitMenu(
  row: CollectionRow,
  filter: ItemsFilter,
  types: readonly TraitType[],
): Html | false {
  if (types.length === 0) return false;
  const chosen = new Set(filter.traits.map(([type]) => type));
  const open = types.filter(({ type }) => !chosen.has(type)).slice(0, maxTypes);
  const here = itemsLink(row, filter);
  return html`<div class="trait-menu"><h2 class="unseen">Filter by traits</h2>${open.map(
    ({ type, values, truncated }) => {
      const link = linksByValue(here, `traits[${type}]`);
      return html`<details><summary>${foreignText(type, 40)} <span class="quiet">${values.length}${truncated && "+"}</span></summary><ul>${values
        .slice(0, maxValues)
        .map(
          ({ value, count }) =>
            html`<li><a href="${link(value)}">${plainText(value, 40)}</a> <span class="quiet">${formatCount(count)}</span></li>`,
        )}</ul></details>`;
    },
  )}</div>`;
}

import type { z } from "zod";
import type { Token } from "#api/v1/collections/token.ts";
import { tokens } from "#api/v1/collections/tokens.ts";
import { type TraitType, traits } from "#api/v1/collections/traits.ts";
import { listListings } from "#api/v1/orders/listings.ts";
import { listingMarketplaces } from "#projections/domain/marketplaces.ts";
import { maxCriteriaTokens } from "#projections/domain/seaport/criteria.ts";
import { tokenSorts } from "#projections/tokens/read-token-filter.ts";
import { valuesByType } from "#projections/traits/read-tokens-with-traits.ts";
import { type Html, html } from "../kit/html.ts";
import { type ItemCard, itemGrid } from "../kit/item-grid.ts";
import { linksByValue } from "../kit/links.ts";
import { coinSymbol, formatCount } from "../kit/number.ts";
import { nextPage } from "../kit/panel.ts";
import { foreignText, marketplaceName, plainText } from "../kit/text.ts";
import type { Visit } from "../kit/visit.ts";
import { buyPicks, collectionTrades, listingPick } from "../trades.ts";
import { filterLink, type ShownCollection } from "./head.ts";

type TokenRow = z.output<typeof Token>;
type Found = {
  readonly cards: readonly ItemCard[];
  readonly total: number;
  readonly next: string | null;
};

const pageSize = "48";

/** Traits narrow a page of listings after it was read. */
const emptyPage = "None on this page has these traits; go on to the next page.";

/** The collection's tokens with pictures, and what narrows them. */
export async function itemsView(visit: Visit, row: ShownCollection): Promise<Html> {
  const { chainId, read } = visit;
  const filter = itemsFilterOf(visit);
  const [found, { data: known }] = await Promise.all([
    isByListing(filter) ? readListed(visit, row, filter) : readTokens(visit, row, filter),
    read(traits, {
      params: { collection: row.slug ?? row.address },
      query: { chainId: String(chainId) },
    }),
  ]);
  const { cards, total, next } = found;
  const isListed = isByListing(filter);
  const noun = isListed ? "listing" : "item";
  return html`<div class="items"><button type="button" class="opens" popovertarget="filters">Filter and sort${chosenCount(filter)}</button>
<div class="filter-sheet" id="filters" popover><div class="filter-head"><b>Filter and sort</b><button type="button" popovertarget="filters" popovertargetaction="hide">Close</button></div>
${filterForm(row, filter)}<aside>${traitMenu(row, filter, known.traitTypes)}</aside></div>
<div class="found">${traitChips(row, filter)}
<p class="about">${formatCount(total)} ${total === 1 ? noun : `${noun}s`}${isListed && filter.traits.length > 0 && ", of which those with the traits are shown"}</p>
${!isListed && offerCoverage(filter, total)}
${!hasAlternatives(filter) && collectionTrades(row, filter.traits)}
${isListed && html`<p class="about">Filtered by price or marketplace: only listed items are shown, by price or by time of listing.</p>`}
${itemGrid(cards, chainId, next !== null && filter.traits.length > 0 ? emptyPage : undefined)}
${buyPicks(row)}
${nextPage(next && itemsLink(row, filter, next))}
</div></div>`;
}

/** What an offer on the chosen traits would be for. */
function offerCoverage(filter: ItemsFilter, tokens: number): Html | false {
  const { traits, listed } = filter;
  if (traits.length === 0 || listed !== "" || tokens === 0 || hasAlternatives(filter)) return false;
  const these = tokens === 1 ? "this item" : `these ${formatCount(tokens)} items`;
  const text =
    tokens > maxCriteriaTokens
      ? `An offer can be for ${formatCount(maxCriteriaTokens)} items at most: choose more traits.`
      : `An offer on ${traits.length === 1 ? "this trait" : "these traits"} would take any of ${these}.`;
  return html`<p class="about">${text}</p>`;
}

async function readTokens(visit: Visit, row: ShownCollection, filter: ItemsFilter): Promise<Found> {
  const { chainId, read, parameter } = visit;
  const { data, meta } = await read(tokens, {
    params: { collection: row.slug ?? row.address },
    query: {
      chainId: String(chainId),
      sort: filter.sort || undefined,
      listed: filter.listed || undefined,
      traits: traitsOf(filter),
      cursor: parameter("cursor") || undefined,
      per_page: pageSize,
    },
  });
  const cards = data.map((token) => cardOf(token, token.listing));
  return { cards, total: meta?.total ?? 0, next: meta?.next_cursor ?? null };
}

/** Listings by price or marketplace, each with its token. */
async function readListed(visit: Visit, row: ShownCollection, filter: ItemsFilter): Promise<Found> {
  const { chainId, read, parameter } = visit;
  const collection = row.slug ?? row.address;
  const query = { chainId: String(chainId), per_page: pageSize };
  const { data: listings, meta } = await read(listListings, {
    query: {
      ...query,
      collection,
      min_price: filter.minPrice || undefined,
      max_price: filter.maxPrice || undefined,
      marketplace: filter.marketplace || undefined,
      sort: sortOfListings(filter.sort),
      cursor: parameter("cursor") || undefined,
    },
  });
  const ids = [...new Set(listings.map(({ tokenId }) => tokenId))];
  const described =
    ids.length === 0
      ? []
      : (
          await read(tokens, {
            params: { collection },
            query: { ...query, per_page: "100", token_ids: ids.join(), traits: traitsOf(filter) },
          })
        ).data;
  const byKey = new Map(described.map((token): [string, TokenRow] => [keyOf(token), token]));
  const cards = listings.flatMap((listing) => {
    const token = byKey.get(keyOf(listing));
    return token === undefined ? [] : [cardOf(token, listing)];
  });
  return { cards, total: meta?.total ?? 0, next: meta?.next_cursor ?? null };
}

function cardOf(
  token: TokenRow,
  listing: Parameters<typeof listingPick>[2] & ItemCard["listing"],
): ItemCard {
  return { token, listing, pick: listingPick(token.name, token.tokenId, listing) };
}

const keyOf = ({ contract, tokenId }: { contract: string; tokenId: string }) =>
  `${contract}/${tokenId}`;

/** Listings are sorted by price or time. */
function sortOfListings(sort: string): string {
  if (sort === "price_desc") return sort;
  return sort === "recently_listed" ? "created_at" : "price_asc";
}

const traitsOf = ({ traits: all }: ItemsFilter) =>
  all.length === 0 ? undefined : Object.fromEntries(valuesByType(all));

const hasAlternatives = ({ traits }: ItemsFilter): boolean =>
  valuesByType(traits).size < traits.length;

/** What a visitor asked the items to be like. "" is anything. */
type ItemsFilter = {
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
    traits: entries("traits").slice(0, maxTraitValues),
  };
}

/** As many as the endpoint takes. */
const maxTraitValues = 20;

/** Prices that the form lets pass. */
const pricePattern = "[0-9]{1,30}([.][0-9]{0,18})?|[.][0-9]{1,18}";

/** `.5` and `5.` as the API takes them: `0.5` and `5`; "" for what is no price. */
function decimalOf(text: string): string {
  if (!new RegExp(`^(?:${pricePattern})$`).test(text)) return "";
  const [whole = "", part = ""] = text.split(".");
  return `${whole || "0"}${part && `.${part}`}`;
}

/** Whether items must be found by their listings. */
const isByListing = ({ marketplace, minPrice, maxPrice }: ItemsFilter): boolean =>
  marketplace !== "" || minPrice !== "" || maxPrice !== "";

/** The collection's items with this filter. */
function itemsLink(row: ShownCollection, filter: ItemsFilter, cursor = ""): string {
  const { sort, listed, marketplace, minPrice, maxPrice, traits } = filter;
  return filterLink(row, {
    sort,
    listed,
    marketplace,
    min_price: minPrice,
    max_price: maxPrice,
    cursor,
    ...Object.fromEntries(
      [...valuesByType(traits)].map(([type, values]) => [`traits[${type}]`, values] as const),
    ),
  });
}

/** A form that works without scripts. */
export function filterForm(row: ShownCollection, filter: ItemsFilter): Html {
  const { chainId, slug, address } = row;
  const { traits } = filter;
  const coin = coinSymbol(chainId);
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
</form>`;
}

/** How many filters narrow the items, where there are any. */
function chosenCount({ traits, listed, marketplace, minPrice, maxPrice }: ItemsFilter): string {
  const chosen = [listed, marketplace, minPrice, maxPrice].filter((one) => one !== "");
  const count = traits.length + chosen.length;
  return count === 0 ? "" : ` (${count})`;
}

const traitChips = (row: ShownCollection, filter: ItemsFilter): Html | false =>
  filter.traits.length > 0 &&
  html`<div class="filters chips">${filter.traits.map((one) => traitChip(row, filter, one))}</div>`;

function choice(name: string, chosen: string, all: readonly (readonly [string, string])[]): Html {
  return html`<select name="${name}" data-submits>${all.map(([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)}</select>`;
}

type Trait = ItemsFilter["traits"][number];

function traitChip(row: ShownCollection, filter: ItemsFilter, trait: Trait): Html {
  const [type, value] = trait;
  return html`<a class="chip" href="${without(row, filter, type, value)}"><span>${foreignText(type, 40)}: ${foreignText(value, 40)}</span> <span aria-hidden="true">×</span><span class="unseen">: remove this filter</span></a>`;
}

/** The items without a trait in the filter. */
function without(row: ShownCollection, filter: ItemsFilter, type: string, value: string): string {
  const traits = filter.traits.filter((one) => one[0] !== type || one[1] !== value);
  return itemsLink(row, { ...filter, traits });
}

const maxTypes = 12;
const maxValues = 12;

/** Values of traits, each of which is added to the filter or taken out of it. */
function traitMenu(
  row: ShownCollection,
  filter: ItemsFilter,
  types: readonly TraitType[],
): Html | false {
  if (types.length === 0) return false;
  const chosen = valuesByType(filter.traits);
  // Types with a choice are always there: other values of them widen it.
  const shown = [
    ...types.filter(({ type }) => chosen.has(type)),
    ...types.filter(({ type }) => !chosen.has(type)).slice(0, maxTypes),
  ];
  const here = itemsLink(row, filter);
  return html`<div class="trait-menu"><h2 class="unseen">Filter by traits</h2>${shown.map(
    ({ type, values, truncated }) => {
      const add = linksByValue(here, `traits[${type}]`);
      const own = chosen.get(type) ?? [];
      const link = (value: string) =>
        own.includes(value)
          ? html`<a href="${without(row, filter, type, value)}" aria-current="true"><span aria-hidden="true">✓</span> ${plainText(value, 40)}<span class="unseen">: remove</span></a>`
          : html`<a href="${add(value)}">${plainText(value, 40)}</a>`;
      return html`<details${own.length > 0 && html` open`}><summary>${foreignText(type, 40)} <span class="quiet">${values.length}${truncated && "+"}</span></summary><ul>${values
        .slice(0, maxValues)
        .map(
          ({ value, count }) =>
            html`<li>${link(value)} <span class="quiet">${formatCount(count)}</span></li>`,
        )}</ul></details>`;
    },
  )}</div>`;
}

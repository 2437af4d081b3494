import type { z } from "zod";
import { type Html, html } from "#api/serve/html/html.ts";
import { tokens } from "#api/serve/v1/collections/tokens.ts";
import { traits } from "#api/serve/v1/collections/traits.ts";
import { listListings } from "#api/serve/v1/listings/list.ts";
import type { Token } from "#api/serve/views/token.ts";
import type { Visit } from "../page/visit.ts";
import { type ItemCard, itemGrid } from "../parts/item-grid.ts";
import { formatCount } from "../parts/number.ts";
import { nextPage } from "../parts/panel.ts";
import type { CollectionRow } from "./head.ts";
import { filterForm, type ItemsFilter, isByListing, itemsFilterOf, itemsLink, traitMenu } from "./items-filter.ts";

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
export async function itemsView(visit: Visit, row: CollectionRow): Promise<Html> {
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
  return html`<div class="items"><aside>${traitMenu(row, filter, known.traitTypes)}</aside><div>
${filterForm(row, filter)}
<p class="about">${formatCount(total)} ${total === 1 ? noun : `${noun}s`}${isListed && filter.traits.length > 0 && ", of which those with the traits are shown"}</p>
${isListed && html`<p class="about">Filtered by price or marketplace: only listed items are shown, by price or by time of listing.</p>`}
${itemGrid(cards, chainId, next !== null && filter.traits.length > 0 ? emptyPage : undefined)}
${nextPage(next && itemsLink(row, filter, next))}
</div></div>`;
}

async function readTokens(visit: Visit, row: CollectionRow, filter: ItemsFilter): Promise<Found> {
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
  const cards = data.map((token) => ({ token, listing: token.listing }));
  return { cards, total: meta?.total ?? 0, next: meta?.next_cursor ?? null };
}

/** Listings by price or marketplace, each with its token. */
async function readListed(visit: Visit, row: CollectionRow, filter: ItemsFilter): Promise<Found> {
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
    return token === undefined ? [] : [{ token, listing }];
  });
  return { cards, total: meta?.total ?? 0, next: meta?.next_cursor ?? null };
}

const keyOf = ({ contract, tokenId }: { contract: string; tokenId: string }) =>
  `${contract}/${tokenId}`;

/** Listings are sorted by price or time. */
function sortOfListings(sort: string): string {
  if (sort === "price_desc") return sort;
  return sort === "recently_listed" ? "created_at" : "price_asc";
}

const traitsOf = ({ traits: all }: ItemsFilter) =>
  all.length === 0 ? undefined : Object.fromEntries(all);

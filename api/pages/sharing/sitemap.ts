import { listCollections } from "#api/v1/collections/collections.ts";
import { listSales } from "#api/v1/sales.ts";
import { type ChainId, chainIds } from "#chains/index.ts";
import { type Html, html } from "../kit/html.ts";
import { collectionLink, marketLink, tokenLink } from "../kit/links.ts";
import type { Reader } from "../kit/visit.ts";

/** Rows of a list that are read at once, and how many of them there are at most. */
const perPage = 100;
const mostRows = { collections: 10_000, tokens: 1_000 } as const;

type Kind = keyof typeof mostRows;

type Place = { readonly url: string; readonly changedAt?: string };

const declaration = `<?xml version="1.0" encoding="UTF-8"?>\n`;
const namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";

/** The parts of the site map: collections by volume, and tokens by their newest sale, of each chain. */
export async function sitemapIndex(
  read: Reader["read"],
  chains: readonly ChainId[],
  origin: string,
): Promise<string> {
  const parts = await Promise.all(
    chains.map(async (chainId) => {
      const query = { chainId: String(chainId), per_page: "1" };
      const [collections, sales] = await Promise.all([
        read(listCollections, { query }),
        read(listSales, { query }),
      ]);
      const totals = { collections: collections.meta?.total, tokens: sales.meta?.total };
      return kinds.flatMap((kind) =>
        pagesOf(totals[kind] ?? 0, mostRows[kind]).map(
          (page) => `${origin}/sitemaps/${chainId}/${kind}/${page}`,
        ),
      );
    }),
  );
  const places = parts.flat().map((url) => html`<sitemap><loc>${url}</loc></sitemap>`);
  return documentOf(html`<sitemapindex xmlns="${namespace}">${places}</sitemapindex>`);
}

const kinds = Object.keys(mostRows) as Kind[];

const pagesOf = (total: number, most: number): number[] =>
  Array.from({ length: Math.ceil(Math.min(total, most) / perPage) }, (_, index) => index + 1);

/** One part; null: there is none of this name. */
export async function sitemapPart(
  read: Reader["read"],
  named: { readonly chainId: string; readonly kind: string; readonly page: string },
  origin: string,
): Promise<string | null> {
  const chainId = chainIds.find((id) => String(id) === named.chainId);
  const kind = kinds.find((one) => one === named.kind);
  if (chainId === undefined || kind === undefined) return null;
  const page = Number(named.page);
  if (!/^[1-9]\d{0,4}$/.test(named.page) || page > mostRows[kind] / perPage) return null;
  const query = { chainId: named.chainId, page: named.page, per_page: String(perPage) };
  const places =
    kind === "collections"
      ? await collectionPlaces(read, chainId, query)
      : await tokenPlaces(read, chainId, query);
  const home = kind === "collections" && page === 1 ? [{ url: marketLink(chainId) }] : [];
  return documentOf(
    html`<urlset xmlns="${namespace}">${[...home, ...places].map((one) => placeOf(one, origin))}</urlset>`,
  );
}

type Page = Readonly<Record<"chainId" | "page" | "per_page", string>>;

async function collectionPlaces(read: Reader["read"], chainId: ChainId, query: Page) {
  const { data } = await read(listCollections, { query: { ...query, period: "30d" } });
  return data.map(({ slug, address }) => ({ url: collectionLink(chainId, slug ?? address) }));
}

/** A token that was sold several times is named once. */
async function tokenPlaces(read: Reader["read"], chainId: ChainId, query: Page) {
  const { data } = await read(listSales, { query });
  const covered = data.filter((one) => one.collection.slug !== null);
  const places = new Map<string, Place>();
  for (const { contract, tokenId, timestamp } of covered) {
    const url = tokenLink(chainId, contract, tokenId);
    if (!places.has(url)) places.set(url, { url, changedAt: timestamp });
  }
  return [...places.values()];
}

const placeOf = ({ url, changedAt }: Place, origin: string): Html =>
  html`<url><loc>${origin}${url}</loc>${changedAt !== undefined && html`<lastmod>${changedAt}</lastmod>`}</url>`;

const documentOf = ({ text }: Html): string => `${declaration}${text}\n`;

import { listBids } from "#api/v1/orders/bids.ts";
import { walletTokens } from "#api/v1/wallet-tokens.ts";
import { type Html, html } from "../kit/html.ts";
import { pageLink, toCollection } from "../kit/links.ts";
import { picturedToken } from "../kit/media.ts";
import { counted, formatCount } from "../kit/number.ts";
import { nextPage, panel, table, tabs } from "../kit/panel.ts";
import type { PageContent, Visit } from "../kit/visit.ts";
import { activeListingsAt, pastBidsPanel, pastListingsPanel } from "./past-orders.ts";
import { askedMoment, type PastPoint, pastView, timeBar } from "./time-bar.ts";

/** What is known of a wallet's past: by the names of today's views. */
const views = {
  tokens: ["Tokens", tokensAt],
  listings: ["Listings", listingsAt],
  offers: ["Offers", offersAt],
} as const satisfies Record<string, readonly [string, View]>;

type View = (
  visit: Visit,
  wallet: string,
) => Promise<{ readonly body: Html; readonly point: PastPoint | null }>;

const left = "Figures, activity and exposure are not shown of a moment.";

/** A wallet as it was: what it held, and its active orders. `head`: its name. */
export async function pastWallet(
  visit: Visit,
  wallet: string,
  head: Html,
): Promise<Pick<PageContent, "body" | "status">> {
  const asked = visit.parameter("view");
  const view = Object.hasOwn(views, asked) ? (asked as keyof typeof views) : "tokens";
  const [, make] = views[view];
  const { body, point, status } = await pastView(() => make(visit, wallet), "Nothing is known.");
  return {
    status,
    body: html`${head}
${timeBar(visit, { parameters: { view }, point, left })}
${tabs(
  "Views of the wallet then",
  Object.entries(views).map(([name, [text]]) => ({
    href: viewAt(visit, name),
    text,
    isCurrent: name === view,
  })),
)}
${body}`,
  };
}

const viewAt = (visit: Visit, view: string, cursor = ""): string =>
  pageLink(visit.path, { chainId: visit.chainId, view, at: askedMoment(visit), cursor });

/** What transfers tell of a token, as far as the page shows it. */
const fields = "chainId,contract,tokenId,collection,units";

async function tokensAt(visit: Visit, wallet: string) {
  const { chainId, read, parameter } = visit;
  const { data, meta } = await read(walletTokens, {
    params: { wallet },
    query: {
      ...{ chainId: String(chainId), at: askedMoment(visit), fields },
      ...{ cursor: parameter("cursor") || undefined, per_page: "50" },
    },
  });
  const next = meta?.next_cursor ?? null;
  const body = panel({
    id: "tokens",
    title: "Tokens then",
    body: html`${table(
      data,
      [
        { head: "Token", cell: (row) => picturedToken(row), isHead: true },
        { head: "Collection", cell: ({ collection }) => toCollection(chainId, collection) },
        { head: "Units", cell: ({ units }) => formatCount(Number(units)), isNumber: true },
      ],
      { caption: "Tokens then", empty: "It held no token of an indexed collection." },
    )}${data.length > 0 && html`<p class="about">${counted(data.length, "token")} on this page; their pictures are those of today.</p>`}${nextPage(next && viewAt(visit, "tokens", next))}`,
  });
  return { body, point: meta?.at ?? null };
}

const without = ["maker"] as const;

/** Of either list. */
const ordersOf = (visit: Visit, maker: string) => ({
  ...{ chainId: String(visit.chainId), maker, at: askedMoment(visit) },
  ...{ cursor: visit.parameter("cursor") || undefined, per_page: "50" },
});

async function listingsAt(visit: Visit, maker: string) {
  const listings = await activeListingsAt(visit.read, ordersOf(visit, maker));
  const { meta } = listings.answer;
  const next = meta?.next_cursor ?? null;
  const body = pastListingsPanel(listings, {
    ...{ caption: "Its listings then, cheapest first", without },
    below: nextPage(next && viewAt(visit, "listings", next)),
  });
  return { body, point: meta?.at ?? null };
}

async function offersAt(visit: Visit, maker: string) {
  const { data, meta } = await visit.read(listBids, { query: ordersOf(visit, maker) });
  const next = meta?.next_cursor ?? null;
  const body = pastBidsPanel(data, {
    ...{ caption: "Its offers then, highest first", without },
    below: nextPage(next && viewAt(visit, "offers", next)),
  });
  return { body, point: meta?.at ?? null };
}

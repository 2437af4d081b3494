import { type ChainId, chainNames } from "#chains/index.ts";
import type { ChainChoice } from "./chain-choice.ts";
import { asOf, menuLink, pageDocument, refusal, type Website } from "./document.ts";
import { type Html, html } from "./html.ts";
import { activityLink, marketLink, pageLink } from "./links.ts";
import { sharingHead } from "./preview.ts";
import { marketplaceNames, plainText } from "./text.ts";
import type { LiveFilter, PageContent } from "./visit.ts";

type FeedPlaces = {
  /** Events of a chain up to here are on the page. */
  readonly places: readonly { readonly chainId: ChainId; readonly after: string }[];
  /** Of the ids of orders taken in here. */
  readonly prefix: string;
};

type Layout = PageContent & {
  readonly chainId: ChainId;
  readonly choice: ChainChoice;
  readonly chains: readonly ChainId[];
  readonly path: string;
  /** Where the pages are served, without a trailing slash. */
  readonly origin: string;
  /** Requests that give the page's figures. */
  readonly requests: readonly string[];
  readonly now: Date;
  /** Where the page goes on in the feed; without it the page is not live. */
  readonly feed?: FeedPlaces | undefined;
};

const siteDescription =
  "NFT collections with their prices, listings, offers, sales and holders, live from the chain.";

/** For pages about what could not be shown, and those that are another page filtered. */
const unlisted = html`<meta name="robots" content="noindex">`;

export const marketSite: Website = {
  name: "Order book of record",
  assets: "/assets/site",
  files: "site",
};

/** A complete page. */
export function layout({ title, description, body, live, search, ...page }: Layout): Html {
  const { chainId, choice, chains, path, requests, now, feed, origin, status = 200 } = page;
  const canonical = pageLink(path, { chainId: choice });
  const { preview = { canonical }, isUnlisted = false } = page;
  const isShown = status === 200;
  const shared = { site: marketSite, title };
  return pageDocument(marketSite, {
    title,
    body,
    home: "/",
    head: html`${isShown ? sharingHead({ ...shared, origin, description: plainText(description ?? "") || siteDescription, preview }) : unlisted}${isShown && isUnlisted && unlisted}
<link rel="manifest" href="/site.webmanifest">
<meta name="theme-color" content="#2456d6">`,
    bodyAttributes:
      live && feed !== undefined && feed.places.length > 0 && liveAttributes(live, feed),
    bar: html`<nav class="chains" aria-label="Chain">${chainChoices(chains).map((one) => chainLink(one, choice, path))}</nav>
<form class="search" action="/search" method="get" role="search">
<input type="hidden" name="chainId" value="${chainId}">
<input type="search" name="q" value="${search ?? ""}" maxlength="300" placeholder="Collection, token, wallet, transaction" aria-label="Search">
<button>Search</button>
</form>
<nav class="menu" aria-label="Main">${menuLink("/", "Market", path === "/")}${menuLink("/activity", "Activity", path === "/activity")}${menuLink("/docs", "API")}${menuLink("/developers", "Keys")}</nav>`,
    footer: html`${requests.length > 0 && sources(requests)}
<p>${asOf(now)} <a href="/status">Status</a> · <a href="/docs/guides/changelog">Changelog</a> · <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI</a></p>`,
  });
}

/** Every figure of the page can be asked for. */
const sources = (requests: readonly string[]): Html =>
  html`<details><summary>Data of this page, from the API</summary><ul class="sources">${[...new Set(requests)].map((one) => html`<li><a href="${one}"><code>GET ${one}</code></a></li>`)}</ul></details>`;

function liveAttributes(
  { collection, contracts, token, wallet, type }: LiveFilter,
  { places, prefix }: FeedPlaces,
): Html {
  const streams = places.map(({ chainId, after }) => ({
    ...{ chainId, after, chain: chainNames[chainId] },
    url: pageLink("/live", { chainId, collection, wallet, type }),
  }));
  return html` data-live="${JSON.stringify(streams)}" data-prefix="${prefix}" data-marketplaces="${JSON.stringify(Object.fromEntries(marketplaceNames))}"${token !== undefined && html` data-token="${token}"`}${contracts !== undefined && html` data-contracts="${contracts.join(" ")}"`}`;
}

const chainChoices = (chains: readonly ChainId[]): readonly ChainChoice[] =>
  chains.length > 1 ? ["all", ...chains] : chains;

/** Lists of a chain, and wallets, have the same page on the other chain; what stands on one has not. */
function chainLink(one: ChainChoice, current: ChainChoice, path: string): Html {
  const same = /^\/(activity$|wallets\/)/.test(path) ? path : "/";
  return html`<a href="${pageLink(same, { chainId: one })}"${one === current && html` aria-current="true"`}>${choiceName(one)}</a>`;
}

const choiceName = (choice: ChainChoice): string =>
  choice === "all" ? "All chains" : chainNames[choice];

/** A page about what could not be shown, with ways on. */
export function refusedPage(chainId: ChainId, status: number, message: string): PageContent {
  const title = status === 404 ? "Not found" : "This page cannot be shown";
  const ways = html`<ul>
<li><a href="${marketLink(chainId)}">The market on ${chainNames[chainId]}</a></li>
<li><a href="${activityLink(chainId)}">What happens there now</a></li>
<li>Search above for a name, an address, a transaction or an order</li>
</ul>`;
  const body = refusal(title, plainText(message, 300), ways);
  return { title, body, status };
}

export const unknownPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 404, "There is no page at this address.");

export const unservedChainPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 404, "This chain is not served here. Choose one above.");

export const busyPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 503, "Too many requests are in progress. Reload the page in a few seconds.");

export const limitedPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 429, "Too many pages were requested from this address. Wait a minute.");

import { type ChainId, chainNames } from "#chains/index.ts";
import { type Html, html } from "./html.ts";
import { activityLink, marketLink, pageLink } from "./links.ts";
import { marketplaceNames, plainText } from "./text.ts";
import type { LiveFilter, PageContent } from "./visit.ts";

type FeedPlace = {
  /** Events up to here are on the page. */
  readonly after: string;
  /** Of the ids of orders taken in here. */
  readonly prefix: string;
};

type Layout = PageContent & {
  readonly chainId: ChainId;
  readonly chains: readonly ChainId[];
  readonly path: string;
  /** Requests that give the page's figures. */
  readonly requests: readonly string[];
  readonly now: Date;
  /** Where the page goes on in the feed; without it the page is not live. */
  readonly feed?: FeedPlace | undefined;
};

const siteDescription =
  "NFT collections with their prices, listings, offers, sales and holders, live from the chain.";

/** As much as search engines show. */
const maxDescription = 160;

/** A complete page. */
export function layout({ title, description, body, live, search, ...page }: Layout): Html {
  const fullTitle = `${plainText(title)} · NFT market data`;
  const { chainId, chains, path, requests, now, feed } = page;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${fullTitle}</title>
<meta name="description" content="${plainText(description ?? "", maxDescription) || siteDescription}">
<meta property="og:title" content="${fullTitle}">
<link rel="icon" href="/assets/site/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/site/site.css">
<script type="module" src="/assets/site/site.js"></script>
</head>
<body data-chain="${chainId}"${live && feed !== undefined && liveAttributes(live, chainId, feed)}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><div>
<a class="brand" href="${marketLink(chainId)}">NFT market data</a>
<nav class="chains" aria-label="Chain">${chains.map((one) => chainLink(one, chainId, path))}</nav>
<form class="search" action="/search" method="get" role="search">
<input type="hidden" name="chainId" value="${chainId}">
<input type="search" name="q" value="${search ?? ""}" maxlength="100" placeholder="Collection, token, wallet, transaction" aria-label="Search ${chainNames[chainId]}">
<button>Search</button>
</form>
<nav class="menu" aria-label="Main">${menuItem(marketLink(chainId), "Market", path === "/")}${menuItem(activityLink(chainId), "Activity", path === "/activity")}<a href="/docs">API</a><a href="/developers">Keys</a></nav>
</div></header>
<main id="content">
${body}
</main>
<footer><div>
${requests.length > 0 && sources(requests)}
<p>As of <time datetime="${now.toISOString()}">${now.toISOString().slice(0, 19).replace("T", " ")} UTC</time>. <a href="/v1/status">How far the chains are indexed</a> · <a href="/docs">API reference</a> · <a href="/v1/openapi.json">OpenAPI</a></p>
</div></footer>
</body>
</html>
`;
}

/** Every figure of the page can be asked for. */
const sources = (requests: readonly string[]): Html =>
  html`<details><summary>Data of this page, from the API</summary><ul class="sources">${[...new Set(requests)].map((one) => html`<li><a href="${one}"><code>GET ${one}</code></a></li>`)}</ul></details>`;

function liveAttributes(
  { collection, contracts, token, wallet, type }: LiveFilter,
  chainId: ChainId,
  { after, prefix }: FeedPlace,
): Html {
  const stream = pageLink("/live", { chainId, collection, wallet, type });
  return html` data-live="${stream}" data-after="${after}" data-prefix="${prefix}" data-marketplaces="${JSON.stringify(Object.fromEntries(marketplaceNames))}"${token !== undefined && html` data-token="${token}"`}${contracts !== undefined && html` data-contracts="${contracts.join(" ")}"`}`;
}

/** Lists of a chain have the same page on the other chain; a row has not. */
function chainLink(one: ChainId, current: ChainId, path: string): Html {
  const same = path === "/activity" ? path : "/";
  return html`<a href="${pageLink(same, { chainId: one })}"${one === current && html` aria-current="true"`}>${chainNames[one]}</a>`;
}

function menuItem(href: string, text: string, isCurrent: boolean): Html {
  return html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a>`;
}

/** A page about what could not be shown, with ways on. */
export function refusedPage(chainId: ChainId, status: number, message: string): PageContent {
  const title = status === 404 ? "Not found" : "This page cannot be shown";
  const body = html`<div class="refused"><h1>${title}</h1>
<p>${plainText(message, 300)}</p>
<ul>
<li><a href="${marketLink(chainId)}">The market on ${chainNames[chainId]}</a></li>
<li><a href="${activityLink(chainId)}">What happens there now</a></li>
<li>Search above for a name, an address, a transaction or an order</li>
</ul></div>`;
  return { title, body, status };
}

export const unknownPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 404, "There is no page at this address.");

export const unservedChainPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 404, "This chain is not served here. Choose one above.");

export const failedPage = (chainId: ChainId, requestId: string): PageContent =>
  refusedPage(chainId, 500, `Something went wrong here. Try again; request id ${requestId}.`);

export const unavailablePage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 503, "This cannot be read at present. Reload the page in a few seconds.");

export const busyPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 503, "Too many requests are in progress. Reload the page in a few seconds.");

export const limitedPage = (chainId: ChainId): PageContent =>
  refusedPage(chainId, 429, "Too many pages were requested from this address. Wait a minute.");

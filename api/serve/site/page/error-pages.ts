import { type ChainId, chainNames } from "#chains/index.ts";
import { html } from "#api/serve/html/html.ts";
import { activityLink, marketLink } from "../parts/links.ts";
import { plainText } from "../parts/text.ts";
import type { PageContent } from "./visit.ts";

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

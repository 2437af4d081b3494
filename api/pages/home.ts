import type { RequestHandler } from "express";
import { defaultChain } from "#chains/index.ts";
import { chainsInWords } from "#chains/texts.ts";
import { sendText } from "../http/answer.ts";
import { menuLink, pageDocument } from "./kit/document.ts";
import { type Html, html } from "./kit/html.ts";
import { referenceSite } from "./reference/layout.ts";

type Link = { readonly href: string; readonly about: string };

/** The landing page of an installation that serves no market to people. */
export function answerHome(
  baseUrl: string,
  chains: readonly number[],
  hasMetrics: boolean,
): RequestHandler {
  const { text } = homePage(baseUrl, chains, hasMetrics);
  const type = "text/html; charset=utf-8";
  return (request, response) =>
    sendText(request, response, { type, text, cacheControl: "no-cache" });
}

function homePage(baseUrl: string, chains: readonly number[], hasMetrics: boolean): Html {
  const data = chains.flatMap((chainId) => [
    { href: `/v1/sales?chainId=${chainId}`, about: `newest sales on chain ${chainId}` },
    { href: `/v1/collections?chainId=${chainId}`, about: `collections on chain ${chainId}` },
  ]);
  const service = [
    { href: "/v1/status", about: "how far the chains are indexed" },
    { href: "/readyz", about: "whether every part is current" },
    { href: "/healthz", about: "whether the process is up" },
    ...(hasMetrics ? [{ href: "/metrics", about: "figures for Prometheus" }] : []),
  ];
  const reference = [
    { href: "/docs", about: "every endpoint, to read and to try" },
    { href: "/developers", about: "accounts, their keys and what they are used for" },
    { href: "/v1/openapi.json", about: "the same for programs, OpenAPI 3.1" },
  ];
  return pageDocument(referenceSite, {
    title: "NFT market data and order book",
    home: "/",
    bar: html`<nav class="menu" aria-label="Main">${menuLink("/docs", "Reference")}${menuLink("/developers", "Keys")}</nav>`,
    body: html`<article><h1>NFT market data and order book</h1>
<p class="lead">${chainsInWords}, over HTTP. Reading needs no key.</p>
<pre tabindex="0">curl '${baseUrl}/v1/sales?chainId=${chains[0] ?? defaultChain.id}&per_page=5'</pre>
<h2>Reference</h2>
${list(reference)}
<h2>Data</h2>
${list(data)}
<h2>Service</h2>
${list(service)}</article>`,
  });
}

const list = (links: readonly Link[]): Html =>
  html`<ul>${links.map(({ href, about }) => html`<li><a href="${href}">${href}</a> ${about}</li>`)}</ul>`;

import type { RequestHandler } from "express";
import { defaultChain } from "#chains/index.ts";
import { chainsInWords } from "#chains/texts.ts";
import { sendText } from "../http/answer.ts";

type Link = { href: string; about: string };

/** The landing page. */
export function answerHome(
  baseUrl: string,
  chains: readonly number[],
  hasMetrics: boolean,
): RequestHandler {
  const text = homePage(baseUrl, chains, hasMetrics);
  const type = "text/html; charset=utf-8";
  return (request, response) =>
    sendText(request, response, { type, text, cacheControl: "no-cache" });
}

function homePage(baseUrl: string, chains: readonly number[], hasMetrics: boolean): string {
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
    { href: "/developers", about: "accounts, their keys and what they are used for" },
    { href: "/docs", about: "every endpoint, to try out" },
    { href: "/v1/openapi.json", about: "the same for programs, OpenAPI 3.1" },
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>NFT market data and order book</title>
<link rel="stylesheet" href="/assets/style.css">
</head>
<body>
<main>
<h1>NFT market data and order book</h1>
<p>${chainsInWords}, over HTTP. Reading needs no key.</p>
<pre>curl '${escapeHtml(baseUrl)}/v1/sales?chainId=${chains[0] ?? defaultChain.id}&amp;per_page=5'</pre>
<h2>Reference</h2>
${list(reference)}
<h2>Data</h2>
${list(data)}
<h2>Service</h2>
${list(service)}
</main>
</body>
</html>
`;
}

function list(links: readonly Link[]): string {
  const items = links.map(
    ({ href, about }) =>
      `<li><a href="${escapeHtml(href)}">${escapeHtml(href)}</a><span>${escapeHtml(about)}</span></li>`,
  );
  return `<ul>\n${items.join("\n")}\n</ul>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

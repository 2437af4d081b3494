import { type Html, html } from "#api/pages/kit/html.ts";
import { plainText } from "#api/pages/kit/text.ts";
import type { PageContent } from "./visit.ts";

const menu = [
  ["/", "Overview"],
  ["/chains", "Chains"],
  ["/log", "Log"],
  ["/projections", "Projections"],
  ["/work", "Work"],
  ["/upstream", "Nodes and partners"],
  ["/callers", "Callers"],
  ["/database", "Database"],
  ["/actions", "Actions"],
] as const;

type Layout = PageContent & { readonly path: string; readonly now: Date };

/** A complete page of the console. */
export function layout({ title, body, isLive = true, path, now }: Layout): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${plainText(title)} · Operator's console</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/console.css">
<script type="module" src="/assets/console.js"></script>
</head>
<body${isLive && html` data-refresh`}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><div>
<a class="brand" href="/">Operator's console</a>
<nav class="menu" aria-label="Main">${menu.map(([href, text]) => html`<a href="${href}"${isCurrent(path, href) && html` aria-current="page"`}>${text}</a>`)}</nav>
<button type="button" id="refresh" hidden>Pause</button>
</div></header>
<main id="content">
${body}
</main>
<footer><div><p>As of <time id="as-of" datetime="${now.toISOString()}">${now.toISOString().slice(0, 19).replace("T", " ")} UTC</time>. <a href="/metrics">Metrics</a> · <a href="/readyz">Readiness</a></p></div></footer>
</body>
</html>
`;
}

const isCurrent = (path: string, href: string): boolean =>
  href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);

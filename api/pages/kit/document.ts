import { type Html, html } from "./html.ts";
import { plainText } from "./text.ts";

/** A set of pages with a bar of their own. */
export type Website = {
  /** In its bar, and after the title of each page. */
  readonly name: string;
  /** Path below which its icon, style sheet and script are: `icon.svg`, `<files>.css` and `<files>.js`. */
  readonly assets: string;
  readonly files: string;
};

type PageParts = {
  readonly title: string;
  readonly body: Html | readonly Html[];
  /** Where the name of the site leads. */
  readonly home: string;
  /** Beside the name. */
  readonly bar: Html;
  /** Further elements of the head. */
  readonly head?: Html;
  readonly bodyAttributes?: Html | false | undefined;
  /** One form in the middle of the screen. */
  readonly isNarrow?: boolean;
  readonly footer?: Html;
};

export const titleOn = ({ name }: Website, title: string): string =>
  `${plainText(title)} · ${name}`;

/** A complete page. */
export function pageDocument(website: Website, parts: PageParts): Html {
  const { title, body, home, bar, head, bodyAttributes, isNarrow = false, footer } = parts;
  const { name, assets, files } = website;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${titleOn(website, title)}</title>
${head}
<link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/${files}.css">
<script type="module" src="${assets}/${files}.js"></script>
</head>
<body${bodyAttributes}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><div>
<a class="brand" href="${home}">${name}</a>
${bar}
</div></header>
<main id="content"${isNarrow && html` class="narrow"`}>
${body}
</main>
${
  footer !== undefined &&
  html`<footer><div>
${footer}
</div></footer>`
}
</body>
</html>
`;
}

/** A link of a bar, marked on its own page. */
export function menuLink(href: string, text: string, isCurrent = false): Html {
  return html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a>`;
}

/** The time of what a page shows, for its foot. */
export function asOf(now: Date): Html {
  const text = now.toISOString();
  return html`As of <time id="as-of" datetime="${text}">${text.slice(0, 19).replace("T", " ")} UTC</time>.`;
}

/** What a page says that cannot be shown, or of a form that did nothing, with ways on. */
export function refusal(title: string, why: string | Html, ways: Html): Html {
  return html`<div class="refused"><h1>${title}</h1>
<p role="alert">${why}</p>
${ways}</div>`;
}

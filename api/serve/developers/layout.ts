import { type Html, html } from "./html.ts";
import type { SignedIn } from "./visit.ts";

type Place = "keys" | "account";

type Layout = {
  readonly title: string;
  readonly body: Html;
  /** Null: who is not signed in sees no menu. */
  readonly signedIn?: SignedIn | null;
  readonly place?: Place;
  /** Whether it answers a form: loading it again would send the form again. */
  readonly isAnswer?: boolean;
};

const places: readonly { name: Place; href: string; text: string }[] = [
  { name: "keys", href: "/developers", text: "Keys" },
  { name: "account", href: "/developers/account", text: "Account" },
];

/** A whole page. */
export function layout({ title, body, signedIn, place, isAnswer }: Layout): Html {
  const home = places.find(({ name }) => name === place)?.href;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Developers</title>
<link rel="icon" href="/developers/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/developers/style.css">
<script src="/developers/script.js" defer></script>
</head>
<body${isAnswer && home && html` data-home="${home}"`}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><div>
<a class="brand" href="/developers">Developers</a>
<nav aria-label="Main">${signedIn && places.map((one) => menuItem(one, place))}<a href="/docs">Reference</a>${signedIn ? signOut(signedIn) : html`<a href="/">Overview</a>`}</nav>
</div></header>
<main id="content"${!signedIn && html` class="narrow"`}>
${body}
</main>
</body>
</html>
`;
}

function menuItem({ name, href, text }: (typeof places)[number], place?: Place): Html {
  return html`<a href="${href}"${name === place && html` aria-current="page"`}>${text}</a>`;
}

const signOut = ({ formToken }: SignedIn): Html =>
  html`<form method="post" action="/developers/sign-out"><input type="hidden" name="form" value="${formToken}"><button class="quiet">Sign out</button></form>`;

/** Says why something is not done, and leads back. */
export function refusalPage(title: string, message: string): Html {
  const body = html`<h1>${title}</h1>
<p class="alert" role="alert">${message}</p>
<p><a href="/developers">To the developer section</a></p>`;
  return layout({ title, body });
}

import { type Html, html } from "../html/html.ts";
import type { SignedIn } from "./page-handler.ts";

type MenuItem = "keys" | "account";

type Layout = {
  readonly title: string;
  readonly body: Html;
  /** Null: not signed in, no menu. */
  readonly signedIn?: SignedIn | null;
  readonly current?: MenuItem;
  /** The page is the response to a POST: reloading it would send the form again. */
  readonly isFormResult?: boolean;
};

const menuItems: readonly { name: MenuItem; href: string; text: string }[] = [
  { name: "keys", href: "/developers", text: "Keys" },
  { name: "account", href: "/developers/account", text: "Account" },
];

/** A complete HTML page. */
export function layout({ title, body, signedIn, current, isFormResult }: Layout): Html {
  const home = menuItems.find(({ name }) => name === current)?.href;
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
<body${isFormResult && home && html` data-home="${home}"`}>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><div>
<a class="brand" href="/developers">Developers</a>
<nav aria-label="Main">${signedIn && menuItems.map((one) => menuItem(one, current))}<a href="/docs">Reference</a><a href="/">Market</a>${signedIn && signOut(signedIn)}</nav>
</div></header>
<main id="content"${!signedIn && html` class="narrow"`}>
${body}
</main>
</body>
</html>
`;
}

function menuItem({ name, href, text }: (typeof menuItems)[number], place?: MenuItem): Html {
  return html`<a href="${href}"${name === place && html` aria-current="page"`}>${text}</a>`;
}

const signOut = ({ formToken }: SignedIn): Html =>
  html`<form method="post" action="/developers/sign-out"><input type="hidden" name="form" value="${formToken}"><button class="quiet">Sign out</button></form>`;

/** An error page with a link back. */
export function refusalPage(title: string, message: string): Html {
  const body = html`<h1>${title}</h1>
<p class="alert" role="alert">${message}</p>
<p><a href="/developers">Back to the developer pages</a></p>`;
  return layout({ title, body });
}

import type { AccountContext } from "#api/accounts/account-context.ts";
import type { AccountSession, Visitor } from "#api/accounts/sessions.ts";
import type { ChainId } from "#chains/index.ts";
import { menuLink, pageDocument, refusal, type Website } from "../kit/document.ts";
import { type Html, html } from "../kit/html.ts";
import type { PageInput } from "../kit/page-input.ts";

type MenuItem = "keys" | "webhooks" | "account";

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
  { name: "webhooks", href: "/developers/webhooks", text: "Webhooks" },
  { name: "account", href: "/developers/account", text: "Account" },
];

export const developerSite: Website = {
  name: "Developers",
  assets: "/developers",
  files: "developers",
};

/** A complete HTML page. */
export function developerLayout({ title, body, signedIn, current, isFormResult }: Layout): Html {
  const place = menuItems.find(({ name }) => name === current)?.href;
  const menu = menuItems.map(({ name, href, text }) => menuLink(href, text, name === current));
  return pageDocument(developerSite, {
    title,
    body,
    home: "/developers",
    bodyAttributes: isFormResult === true && place !== undefined && html` data-home="${place}"`,
    bar: html`<nav class="menu" aria-label="Main">${signedIn && menu}${menuLink("/docs", "Reference")}${menuLink("/", "Market")}${signedIn && signOut(signedIn)}</nav>`,
    isNarrow: !signedIn,
  });
}

const signOut = ({ formToken }: SignedIn): Html =>
  html`<form method="post" action="/developers/sign-out"><input type="hidden" name="form" value="${formToken}"><button class="quiet">Sign out</button></form>`;

/** An error page with a link back. */
export function refusalPage(title: string, message: string): Html {
  const back = html`<p><a href="/developers">Back to the developer pages</a></p>`;
  const body = refusal(title, message, back);
  return developerLayout({ title, body });
}

export type Developers = {
  readonly accounts: AccountContext;
  /** Requests per minute of a permanent key without its own limit; 0: unlimited. */
  readonly keyLimit: number;
  /** Base URL of the account API, without a trailing slash. */
  readonly accountApiUrl: string;
  /** The chains served, for webhooks. */
  readonly chains: readonly ChainId[];
};

/** Whether the state of a page is what a form made of it, not a message of the page before. */
export const isAnswer = (state: object): boolean =>
  Object.keys(state).some((name) => name !== "done");

/** A request for a page, or a submitted form. */
export type DeveloperVisit = PageInput & { readonly visitor: Visitor };

/** The session of a signed-in user, and the CSRF token of its forms. */
export type SignedIn = { readonly session: AccountSession; readonly formToken: string };

/** A page, a redirect, or a JSON file. */
export type Reply = (
  | { readonly page: Html; readonly status?: number; readonly retryAfterSeconds?: number }
  | { readonly to: string }
  | { readonly download: { readonly name: string; readonly data: unknown } }
) & {
  /** Session token to store in the cookie; null: delete the cookie. */
  readonly sessionToken?: string | null;
};

export type OpenHandler = (
  developers: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn | null,
) => Promise<Reply>;

export type SignedInHandler = (
  developers: Developers,
  visit: DeveloperVisit,
  signedIn: SignedIn,
) => Promise<Reply>;

/** HTTP statuses of the rejection codes of forms. */
const statuses = {
  bad_email: 422,
  bad_password: 422,
  bad_name: 422,
  bad_scopes: 422,
  bad_expiry: 422,
  bad_networks: 422,
  bad_webhook_url: 422,
  invalid_cursor: 422,
  wrong_email: 422,
  wrong_password: 401,
  wrong_code: 401,
  wrong_passkey: 401,
  bad_siwe_message: 422,
  unsupported_chain: 422,
  siwe_expired: 401,
  wrong_signature: 401,
  second_factor_required: 401,
  sign_in_again: 410,
  bad_link: 410,
  suspended: 403,
  disabled_by_operator: 403,
  no_such_key: 404,
  webhook_not_found: 404,
  last_way_in: 409,
  wallet_taken: 409,
  too_many_wallets: 409,
  too_many_passkeys: 409,
  too_many_keys: 409,
  too_many_webhooks: 409,
  rate_limited: 429,
  busy: 503,
  rpc_unavailable: 503,
} as const;

type Refused = {
  readonly rejected: keyof typeof statuses;
  readonly message: string;
  readonly retryAfterSeconds?: number;
};

/** The page that shows a rejection, with its status. */
export function refusalReply({ rejected, retryAfterSeconds }: Refused, page: Html): Reply {
  const status = statuses[rejected];
  return retryAfterSeconds === undefined ? { page, status } : { page, status, retryAfterSeconds };
}

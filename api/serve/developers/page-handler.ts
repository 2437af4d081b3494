import type { AccountContext } from "#api/accounts/account-context.ts";
import type { AccountSession, Visitor } from "#api/accounts/sessions.ts";
import type { Html } from "../html/html.ts";

export type Developers = {
  readonly accounts: AccountContext;
  /** Requests per minute of a permanent key without its own limit; 0: unlimited. */
  readonly keyLimit: number;
  /** Base URL of the account API, without a trailing slash. */
  readonly accountApiUrl: string;
};

/** A request for a page, or a submitted form. */
export type Visit = {
  readonly visitor: Visitor;
  /** A path or query parameter; "" when it is missing or not a single text. */
  parameter(name: string): string;
  /** A form field; "" likewise. */
  field(name: string): string;
  /** The path of the request, and all fields of its form that are single texts. */
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
};

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
  visit: Visit,
  signedIn: SignedIn | null,
) => Promise<Reply>;

export type SignedInHandler = (
  developers: Developers,
  visit: Visit,
  signedIn: SignedIn,
) => Promise<Reply>;

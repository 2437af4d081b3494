import type { AccountContext } from "../accounts/account-context.ts";
import type { Session, Visitor } from "../accounts/sessions.ts";
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
};

/** The session of a signed-in user, and the CSRF token of its forms. */
export type SignedIn = { readonly session: Session; readonly formToken: string };

/** A page or a redirect. */
export type Reply = (
  | { readonly page: Html; readonly status?: number; readonly retryAfterSeconds?: number }
  | { readonly to: string }
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

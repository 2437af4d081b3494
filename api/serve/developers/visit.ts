import type { AccountContext } from "../accounts/account-context.ts";
import type { Session, Visitor } from "../accounts/sessions.ts";
import type { Html } from "./html.ts";

export type Developers = {
  readonly accounts: AccountContext;
  /** Requests a minute of a permanent key without a limit of its own; 0: no limit. */
  readonly keyLimit: number;
  /** Where client keys are exchanged for tokens, without a slash at its end. */
  readonly accountApiUrl: string;
};

/** Somebody who asks for a page, or sends a form. */
export type Visit = {
  readonly visitor: Visitor;
  /** A parameter of the path or the query; "" where it is missing or no text. */
  parameter(name: string): string;
  /** A field of the form; the same. */
  field(name: string): string;
};

/** Who is signed in, and what every form on the page must hold. */
export type SignedIn = { readonly session: Session; readonly formToken: string };

/** A page, or the way to another one. */
export type Reply = (
  | { readonly page: Html; readonly status?: number; readonly retryAfterSeconds?: number }
  | { readonly to: string }
) & {
  /** A session's token to keep; null: to forget the one there is. */
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

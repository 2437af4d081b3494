import { z } from "zod";
import { type Rejection, reject } from "#projections/domain/rejection.ts";

/** RFC 5321 §4.5.3.1.3, without its angle brackets. */
const maxLength = 254;

const Email = z.email();

/** An e-mail address in the form that identifies an account: lower case, trimmed. */
export function parseEmail(text: string): string | Rejection<"bad_email"> {
  const email = text.trim().toLowerCase();
  if (email.length <= maxLength && Email.safeParse(email).success) return email;
  return reject("bad_email", "Enter an e-mail address, for example name@example.com");
}

/**
 * The mailbox of an address, for what there is once per mailbox: without a `+tag`, which many servers ignore. Mail never
 * goes to this form, since others do not. `access.account.canonical_email` is the same.
 */
export const canonicalEmail = (email: string): string => email.replace(/^([^+@]+)\+[^@]*@/, "$1@");

import { z } from "zod";
import { type Rejection, reject } from "../../../projections/domain/rejection.ts";

/** RFC 5321 §4.5.3.1.3, without its angle brackets. */
const mostCharacters = 254;

const Email = z.email();

/** An e-mail address as accounts are known by it: lower case, without blanks around. */
export function emailOf(text: string): string | Rejection<"bad_email"> {
  const email = text.trim().toLowerCase();
  if (email.length <= mostCharacters && Email.safeParse(email).success) return email;
  return reject("bad_email", "Write an e-mail address, such as name@example.com");
}

import { isRejection, type Rejection } from "#projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { canonicalEmail, parseEmail } from "./email.ts";
import { createLink } from "./links.ts";
import { resetMail, welcomeMail } from "./mails.ts";
import type { TooMany } from "./throttle.ts";

/**
 * Mails a link for choosing a password. Only the mail shows whether an account exists: response and work are the same
 * for every address.
 */
export async function sendLink(
  { db, clock, throttle, mailer, baseUrl }: AccountContext,
  text: string,
  address: string,
): Promise<{ readonly email: string } | Rejection<"bad_email"> | TooMany> {
  const email = parseEmail(text);
  if (isRejection(email)) return email;
  const refused = await throttle.countAttempts(
    ["mail address", address],
    ["mail account", canonicalEmail(email)],
  );
  if (refused !== null) return refused;
  const { link, to, isKnown } = await createLink(db, email, clock);
  const occasion = { to, link, baseUrl };
  mailer.send(isKnown ? resetMail(occasion) : welcomeMail(occasion));
  return { email };
}

import { isRejection, type Rejection } from "../../../projections/domain/rejection.ts";
import type { AccountContext } from "./account-context.ts";
import { emailOf } from "./email.ts";
import { createLink } from "./links.ts";
import { resetMail, welcomeMail } from "./mails.ts";
import type { TooMany } from "./throttle.ts";

/**
 * Sends a link with which a password can be chosen. Whether there is an account shows in the mail alone: the work and
 * the answer are the same.
 */
export async function askForLink(
  { db, clock, throttle, mailer, baseUrl }: AccountContext,
  text: string,
  address: string,
): Promise<{ readonly email: string } | Rejection<"bad_email"> | TooMany> {
  const email = emailOf(text);
  if (isRejection(email)) return email;
  const refused = await throttle.take(["mail address", address], ["mail account", email]);
  if (refused !== null) return refused;
  const { link, isKnown } = await createLink(db, email, clock);
  const occasion = { to: email, link, baseUrl };
  mailer.send(isKnown ? resetMail(occasion) : welcomeMail(occasion));
  return { email };
}

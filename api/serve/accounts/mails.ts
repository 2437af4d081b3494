import { linkHours } from "./links.ts";
import type { Mail } from "./mailer.ts";

type MailContext = { readonly to: string; readonly link: string; readonly baseUrl: string };

/** For an address without an account: the link creates one. */
export function welcomeMail({ to, link, baseUrl }: MailContext): Mail {
  const address = addressOf(link, baseUrl);
  return {
    to,
    link: address,
    subject: "Confirm your e-mail address",
    text: `Someone, most likely you, requested a developer account at ${hostOf(baseUrl)} with this e-mail address.

Confirm the address and choose a password here:

${address}

The link works once and expires after ${linkHours} hours. If this was not you, ignore this mail: no account is created without the link.
`,
  };
}

/** For the owner of an account: the link sets a new password. */
export function resetMail({ to, link, baseUrl }: MailContext): Mail {
  const address = addressOf(link, baseUrl);
  return {
    to,
    link: address,
    subject: "Choose a new password",
    text: `Someone, most likely you, requested a sign-in link for the developer account of this address at ${hostOf(baseUrl)}.

If you know your password, sign in: ${baseUrl}/developers/sign-in

Otherwise, choose a new password here:

${address}

The link works once and expires after ${linkHours} hours. If this was not you, ignore this mail: your password does not change.
`,
  };
}

/** For the owner of an account whose password was changed. */
export function changedMail({ to, baseUrl }: Omit<MailContext, "link">): Mail {
  return {
    to,
    subject: "Your password was changed",
    text: `The password of your developer account at ${hostOf(baseUrl)} was changed, and all other sessions were ended.

If this was not you, choose a new password immediately: ${baseUrl}/developers/forgot
`,
  };
}

const addressOf = (link: string, baseUrl: string) => `${baseUrl}/developers/confirm?link=${link}`;

const hostOf = (baseUrl: string) => new URL(baseUrl).host;

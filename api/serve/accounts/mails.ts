import { linkHours } from "./links.ts";
import type { Mail } from "./mailer.ts";

type Occasion = { readonly to: string; readonly link: string; readonly baseUrl: string };

/** To somebody who has no account: the link makes one. */
export function welcomeMail({ to, link, baseUrl }: Occasion): Mail {
  const address = addressOf(link, baseUrl);
  return {
    to,
    link: address,
    subject: "Confirm your e-mail address",
    text: `Somebody, most likely you, asked for a developer account at ${hostOf(baseUrl)} with this address.

Confirm the address and choose a password here:

${address}

The link works once, for ${linkHours} hours. If it was not you, do nothing: without the link no account is made.
`,
  };
}

/** To somebody who has one: the link sets a new password. */
export function resetMail({ to, link, baseUrl }: Occasion): Mail {
  const address = addressOf(link, baseUrl);
  return {
    to,
    link: address,
    subject: "Choose a new password",
    text: `Somebody, most likely you, asked to get into the developer account that this address has at ${hostOf(baseUrl)}.

If you know your password, sign in with it: ${baseUrl}/developers/sign-in

If not, choose a new one here:

${address}

The link works once, for ${linkHours} hours. If it was not you, do nothing: your password stays as it is.
`,
  };
}

/** To the owner of an account whose password has just become another. */
export function changedMail({ to, baseUrl }: Omit<Occasion, "link">): Mail {
  return {
    to,
    subject: "Your password was changed",
    text: `The password of your developer account at ${hostOf(baseUrl)} was changed, and all other sessions were ended.

If that was not you, choose a new password at once: ${baseUrl}/developers/forgot
`,
  };
}

const addressOf = (link: string, baseUrl: string) => `${baseUrl}/developers/confirm?link=${link}`;

const hostOf = (baseUrl: string) => new URL(baseUrl).host;

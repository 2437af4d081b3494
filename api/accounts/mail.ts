import { createTransport } from "nodemailer";
import type { Logger } from "pino";
import { linkHours } from "./links.ts";

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

That ends all sessions, but API keys, bearer tokens and the client key still work: revoke those that you do not know.

The link works once and expires after ${linkHours} hours. If this was not you, ignore this mail: your password does not change.
`,
  };
}

/** What an owner learns without having asked. */
type Notice = { readonly to: string | null; readonly baseUrl: string };

/** For the owner of an account whose password was changed. */
export function changedMail({ to, baseUrl }: Notice): Mail {
  return {
    to,
    subject: "Your password was changed",
    text: `The password of your developer account at ${hostOf(baseUrl)} was changed, and all other sessions were ended.

API keys, bearer tokens and the client key still work. Revoke those that you do not know: ${baseUrl}/developers

${ifNotYou(baseUrl)}
`,
  };
}

/** After a key was made. `credential`: what it is, with its name. */
export function keyMadeMail({ to, baseUrl, credential }: Notice & { credential: string }): Mail {
  return {
    to,
    subject: "A key was made",
    text: `${credential} was made in your developer account at ${hostOf(baseUrl)}.

If this was not you, revoke it: ${baseUrl}/developers
Then ${ifNotYou(baseUrl).replace(/^If this was not you, /, "")}
`,
  };
}

type Place = { readonly credential: string; readonly network: string; readonly at: Date };

/** After a credential was used from a network that the account was not used from before. */
export function newPlaceMail({ to, baseUrl, credential, network, at }: Notice & Place): Mail {
  return {
    to,
    subject: "Your account was used from a new network",
    text: `On ${at.toISOString().slice(0, 10)}, ${credential} of your developer account at ${hostOf(baseUrl)} was used from a network that is new to it: ${network}

If this was you, or one of your programs, there is nothing to do. Otherwise end sessions and revoke keys and tokens: ${baseUrl}/developers
Then choose a new password: ${baseUrl}/developers/forgot
`,
  };
}

/** After the second factor was changed. `what` is a sentence without its full stop. */
export function secondFactorMail({ to, baseUrl, what }: Notice & { what: string }): Mail {
  return {
    to,
    subject: "Your second factor was changed",
    text: `${what} for your developer account at ${hostOf(baseUrl)}.

${ifNotYou(baseUrl)}
`,
  };
}

/** After a wallet was linked or unlinked. `what`: all of the sentence before the account. */
export function walletMail({ to, baseUrl, what }: Notice & { what: string }): Mail {
  return {
    to,
    subject: "The wallets of your account were changed",
    text: `${what} your developer account at ${hostOf(baseUrl)}: a linked wallet signs in to it.

If this was not you, look at its wallets: ${baseUrl}/developers/account
Then ${ifNotYou(baseUrl).replace(/^If this was not you, /, "")}
`,
  };
}

const disabledWords = {
  failures: "its receiver has not taken an event for three days",
  gone: "its receiver answered 410 Gone",
  operator: "the operator of this service disabled it",
};

export type DisabledWords = keyof typeof disabledWords;

/** After a webhook was disabled by somebody else than its owner. */
export function webhookDisabledMail(
  { to, baseUrl }: Notice,
  { id, url, disabledBy }: { id: number; url: string; disabledBy: DisabledWords },
): Mail {
  return {
    to,
    subject: "A webhook was disabled",
    text: `Webhook ${id} of your developer account at ${hostOf(baseUrl)} is disabled, because ${disabledWords[disabledBy]}:

${url}

No event is lost: enable it again, and it continues where it was.
`,
  };
}

/** After an account was deleted by its owner. */
export function deletedMail({ to, baseUrl }: Notice): Mail {
  return {
    to,
    subject: "Your account was deleted",
    text: `Your developer account at ${hostOf(baseUrl)} was deleted with everything in it. Its keys and tokens no longer work.

If this was not you, tell the operator of this service.
`,
  };
}

const ifNotYou = (baseUrl: string) =>
  `If this was not you, choose a new password immediately: ${baseUrl}/developers/forgot`;

const addressOf = (link: string, baseUrl: string) => `${baseUrl}/developers/confirm?link=${link}`;

const hostOf = (baseUrl: string) => new URL(baseUrl).host;

export type Mail = {
  /** Null: the account has no address, and nothing is sent. */
  readonly to: string | null;
  readonly subject: string;
  readonly text: string;
  /** The link in the text. */
  readonly link?: string;
};

/** Sends mail after the response, so that timing and failures reveal nothing to the caller. */
export type Mailer = {
  /** Without a mail server: links are in the log of a service on loopback, and nowhere of any other. */
  readonly delivery: "mail" | "log" | "none";
  send(mail: Mail): void;
  /** Waits for mail in progress. */
  close(): Promise<void>;
};

/** Milliseconds to connect to the server, and for each of its replies. */
const timeoutMs = 15_000;

type MailerOptions = {
  /** Null: no mail server. */
  readonly smtp: { readonly url: string; readonly from: string } | null;
  /** Whether only this machine reaches the service: a working link in a log is a password in it. */
  readonly isLoopback: boolean;
  readonly logger: Logger;
};

export function openMailer({ smtp, isLoopback, logger }: MailerOptions): Mailer {
  if (smtp === null) return openLogMailer(logger, isLoopback);
  const transport = createTransport(
    {
      url: smtp.url,
      pool: true,
      maxConnections: 2,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from: smtp.from },
  );
  const underWay = new Set<Promise<void>>();
  const deliver = async ({ to, subject, text }: Mail & { to: string }) => {
    try {
      await transport.sendMail({ to, subject, text });
    } catch (error) {
      logger.error({ err: error, to }, "mail delivery failed");
    }
  };
  return {
    delivery: "mail",
    send(mail) {
      const { to } = mail;
      if (to === null) return;
      const delivery = deliver({ ...mail, to }).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async close() {
      await Promise.all(underWay);
      transport.close();
    },
  };
}

function openLogMailer(logger: Logger, isLoopback: boolean): Mailer {
  const close = async () => {};
  const sendTo = (tell: (mail: Mail) => void) => (mail: Mail) => {
    if (mail.to !== null) tell(mail);
  };
  if (isLoopback)
    return {
      delivery: "log",
      send: sendTo(({ to, subject, link }) =>
        logger.info({ to, subject, link }, "no mail server configured, mail not sent"),
      ),
      close,
    };
  return {
    delivery: "none",
    send: sendTo(({ to, subject }) =>
      logger.error({ to, subject }, "no mail server configured, mail not sent: set SMTP_URL"),
    ),
    close,
  };
}

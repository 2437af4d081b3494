import { createTransport } from "nodemailer";
import type { Logger } from "pino";

export type Mail = {
  readonly to: string;
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
  const deliver = async (mail: Mail) => {
    try {
      const { to, subject, text } = mail;
      await transport.sendMail({ to, subject, text });
    } catch (error) {
      logger.error({ err: error, to: mail.to }, "mail delivery failed");
    }
  };
  return {
    delivery: "mail",
    send(mail) {
      const delivery = deliver(mail).finally(() => underWay.delete(delivery));
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
  if (isLoopback)
    return {
      delivery: "log",
      send: ({ to, subject, link }) =>
        logger.info({ to, subject, link }, "no mail server configured, mail not sent"),
      close,
    };
  return {
    delivery: "none",
    send: ({ to, subject }) =>
      logger.error({ to, subject }, "no mail server configured, mail not sent: set SMTP_URL"),
    close,
  };
}

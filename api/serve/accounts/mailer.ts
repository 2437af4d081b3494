import { createTransport } from "nodemailer";
import type { Logger } from "pino";

export type Mail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The address in the text that the reader is to follow. */
  readonly link?: string;
};

/** Sends mail behind the answer's back: how long that takes, and whether it works, tells callers nothing. */
export type Mailer = {
  /** Whether mail stays in the operator's log. */
  readonly isLog: boolean;
  send(mail: Mail): void;
  /** Waits for what is under way. */
  close(): Promise<void>;
};

/** Milliseconds for the server to be reached, and for each of its answers. */
const patienceMs = 15_000;

type MailerOptions = {
  /** Null: there is no mail server, and the operator's log tells what would have been sent. */
  readonly smtp: { readonly url: string; readonly from: string } | null;
  readonly logger: Logger;
};

export function openMailer({ smtp, logger }: MailerOptions): Mailer {
  if (smtp === null) return openLogMailer(logger);
  const transport = createTransport(
    {
      url: smtp.url,
      pool: true,
      maxConnections: 2,
      connectionTimeout: patienceMs,
      greetingTimeout: patienceMs,
      socketTimeout: patienceMs,
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
      logger.error({ err: error, to: mail.to }, "a mail could not be sent");
    }
  };
  return {
    isLog: false,
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

function openLogMailer(logger: Logger): Mailer {
  return {
    isLog: true,
    send: ({ to, subject, link }) =>
      logger.info({ to, link }, `no mail server is set up, so this stays here: ${subject}`),
    close: async () => {},
  };
}

import type { Logger } from "pino";
import { openDatabase } from "../../../projections/database.ts";
import type { AccountContext } from "./account-context.ts";
import { type BearerTokens, openBearerTokens } from "./bearer-tokens.ts";
import type { Clock } from "./clock.ts";
import { deleteExpiredAccounts } from "./delete-expired.ts";
import { openMailer } from "./mailer.ts";
import { openPasswords } from "./passwords.ts";
import { openThrottle } from "./throttle.ts";

export type OpenedAccounts = {
  readonly accounts: AccountContext;
  readonly bearerTokens: BearerTokens;
  /** Waits for mail in progress. */
  close(): Promise<void>;
};

/** The settings that accounts need. */
export type AccountsConfig = {
  readonly database: { readonly url: string };
  readonly http: { readonly host: string; readonly baseUrl: string };
  /** SMTP server and sender; null: no mail is sent. */
  readonly mail: { readonly url: string; readonly from: string } | null;
};

const sweepMs = 60_000;

/** Accounts of one API process, on connections of their own. */
export function openAccounts({
  config,
  logger,
}: {
  config: AccountsConfig;
  logger: Logger;
}): OpenedAccounts {
  const db = openDatabase({
    url: config.database.url,
    applicationName: "api accounts",
    max: 4,
    statementTimeoutMs: 5_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const clock: Clock = () => null;
  const mailer = openMailer({ smtp: config.mail, isLoopback: isLoopback(config.http), logger });
  const sweep = setInterval(() => {
    deleteExpiredAccounts(db).catch((error: unknown) =>
      logger.warn({ err: error }, "account cleanup failed"),
    );
  }, sweepMs);
  return {
    accounts: {
      db,
      clock,
      throttle: openThrottle(db, clock),
      passwords: openPasswords(),
      mailer,
      baseUrl: config.http.baseUrl,
    },
    bearerTokens: openBearerTokens({ db, clock }),
    async close() {
      clearInterval(sweep);
      await mailer.close();
      await db.destroy();
    },
  };
}

/** Behind a proxy the service listens on loopback, but its public address is another. */
function isLoopback({ host, baseUrl }: AccountsConfig["http"]): boolean {
  const publicHost = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "");
  return [host, publicHost].every((name) => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(name));
}

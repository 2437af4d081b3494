import type { Logger } from "pino";
import { openDatabase } from "../../../projections/database.ts";
import type { RoleConfig } from "../../run/roles/role.ts";
import type { AccountContext } from "./account-context.ts";
import { type BearerTokens, openBearerTokens } from "./bearer-tokens.ts";
import type { Clock } from "./clock.ts";
import { openMailer } from "./mailer.ts";
import { openPasswords } from "./passwords.ts";
import { sweepAccounts } from "./sweep-accounts.ts";
import { openThrottle } from "./throttle.ts";

export type OpenedAccounts = {
  readonly accounts: AccountContext;
  readonly bearerTokens: BearerTokens;
  /** Waits for mail that is under way. */
  close(): Promise<void>;
};

const sweepMs = 60_000;

/** Accounts of one API process, over connections of their own. */
export function openAccounts({
  config,
  logger,
}: {
  config: RoleConfig;
  logger: Logger;
}): OpenedAccounts {
  const db = openDatabase({
    url: config.database.url,
    applicationName: "api accounts",
    max: 4,
    statementTimeoutMs: 5_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
  const clock: Clock = () => null;
  const mailer = openMailer({ smtp: config.mail, logger });
  const sweep = setInterval(() => {
    sweepAccounts(db).catch((error: unknown) =>
      logger.warn({ err: error }, "what is over cannot be swept"),
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

import type { Logger } from "pino";
import { type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { openListener } from "#jobs/runner/signals.ts";
import type { AccountContext } from "./account-context.ts";
import { type BearerTokens, openBearerTokens } from "./bearer-tokens.ts";
import { type CallerStreams, openCallerStreams } from "./caller-streams.ts";
import type { Clock } from "./clock.ts";
import { deleteExpiredAccounts } from "./delete-expired.ts";
import { openMailer } from "./mailer.ts";
import { openPasswords } from "./passwords.ts";
import { openPlaces, type Places } from "./sign-in/places.ts";
import { openThrottle } from "./throttle.ts";

export type OpenedAccounts = {
  readonly accounts: AccountContext;
  readonly bearerTokens: BearerTokens;
  /** Where credentials are used. */
  readonly places: Places;
  readonly streams: CallerStreams;
  /** Waits for mail in progress. */
  close(): Promise<void>;
};

/** The settings that accounts need. */
export type AccountsConfig = {
  readonly database: { readonly url: string; readonly requests: DatabaseAddress };
  readonly http: { readonly host: string; readonly baseUrl: string };
  readonly access: {
    /** Open streams of an account, and of an address without one. */
    readonly streams: { readonly account: number; readonly address: number };
    readonly reauthenticationMinutes: number;
  };
  /** SMTP server and sender; null: no mail is sent. */
  readonly mail: { readonly url: string; readonly from: string } | null;
};

const sweepMs = 60_000;
const writeMs = 10_000;

/** Accounts of one API process, on connections of their own. */
export function openAccounts({
  config,
  logger,
}: {
  config: AccountsConfig;
  logger: Logger;
}): OpenedAccounts {
  const db = openDatabase({
    ...config.database.requests,
    applicationName: "api accounts",
    max: 4,
    statementTimeoutMs: 5_000,
    prepares: true,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const clock: Clock = () => null;
  const mailer = openMailer({ smtp: config.mail, isLoopback: isLoopback(config.http), logger });
  const accounts: AccountContext = {
    db,
    clock,
    throttle: openThrottle(db, clock),
    passwords: openPasswords(),
    mailer,
    baseUrl: config.http.baseUrl,
    reauthenticationMinutes: config.access.reauthenticationMinutes,
  };
  const places = openPlaces(accounts);
  const streams = openCallerStreams({ db, logger, limits: config.access.streams });
  const listener = openListener({
    url: config.database.url,
    channels: ["access_ended"],
    logger,
    onNotify: streams.notify,
  });
  const warn = (message: string) => (error: unknown) => logger.warn({ err: error }, message);
  const writePlaces = () => places.flush().catch(warn("places of accounts cannot be written"));
  const timers = [
    setInterval(
      () => deleteExpiredAccounts(db, new Date()).catch(warn("account cleanup failed")),
      sweepMs,
    ),
    setInterval(writePlaces, writeMs),
  ];
  return {
    accounts,
    bearerTokens: openBearerTokens({ db, clock, onUse: places.onUse }),
    places,
    streams,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([streams.stop(), listener.stop(), writePlaces()]);
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

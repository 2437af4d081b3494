import { sql } from "kysely";
import type { Logger } from "pino";
import type { ChainId } from "#chains/index.ts";
import type { ChainReads } from "#jobs/orders/evaluate-order.ts";
import { openListener } from "#jobs/runner/signals.ts";
import { type Database, type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { type Clock, timeOfBoth } from "../keys/clock.ts";
import type { AccountContext } from "./account-context.ts";
import { type BearerTokens, openBearerTokens } from "./bearer-tokens.ts";
import { type CallerStreams, openCallerStreams } from "./caller-streams.ts";
import { tellOfDisabledWebhooks } from "./disabled-webhooks.ts";
import { openMailer } from "./mail.ts";
import { openPasswords } from "./passwords.ts";
import { openPlaces, type Places, placeDays } from "./places.ts";
import { idleDays, maxAgeDays } from "./sessions.ts";
import { openThrottle } from "./throttle.ts";

type OpenedAccounts = {
  readonly accounts: AccountContext;
  readonly bearerTokens: BearerTokens;
  /** Where credentials are used. */
  readonly places: Places;
  readonly streams: CallerStreams;
  /** Waits for mail in progress. */
  close(): Promise<void>;
};

/** The settings that accounts need. */
type AccountsConfig = {
  readonly database: { readonly url: string; readonly requests: DatabaseAddress };
  readonly http: { readonly host: string; readonly baseUrl: string };
  readonly chains: readonly { readonly chainId: ChainId }[];
  readonly access: {
    /** Open streams of an account, and of an address without one. */
    readonly streams: { readonly account: number; readonly address: number };
    readonly reauthenticationMinutes: number;
  };
  /** SMTP server and sender; null: no mail is sent. */
  readonly mail: { readonly url: string; readonly from: string } | null;
  readonly webhooks: { readonly allowedOrigins: readonly string[] };
};

type AccountsOptions = ChainReads & { readonly config: AccountsConfig; readonly logger: Logger };

const sweepMs = 60_000;
const writeMs = 10_000;

/** Accounts of one API process, on connections of their own. */
export function openAccounts({ config, logger, queryChain }: AccountsOptions): OpenedAccounts {
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
    chains: config.chains.map(({ chainId }) => chainId),
    queryChain,
    reauthenticationMinutes: config.access.reauthenticationMinutes,
    webhookOrigins: config.webhooks.allowedOrigins,
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
    setInterval(
      () => tellOfDisabledWebhooks(accounts).catch(warn("owners of webhooks cannot be told")),
      sweepMs,
    ),
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

/** Days that expired tokens are retained. */
const retentionDays = 30;

/** Deletes expired attempts, links, sessions, tokens, nonces and places. `now`: of this process. `skip locked` lets any number of processes run it at once. */
export async function deleteExpiredAccounts(db: Database, now: Date): Promise<void> {
  const time = timeOfBoth(now);
  const statements = [
    sql`delete from access.attempt where subject in (
      select subject from access.attempt where ends_at < ${time} limit 20000 for update skip locked)`,
    sql`delete from access.link where hash in (
      select hash from access.link where expires_at < ${time} limit 20000 for update skip locked)`,
    sql`delete from access.session where id in (
      select id from access.session
      where seen_at < ${time} - make_interval(days => ${idleDays})
         or created_at < ${time} - make_interval(days => ${maxAgeDays})
      limit 20000 for update skip locked)`,
    sql`delete from access.bearer_token where id in (
      select id from access.bearer_token
      where expires_at < ${time} - make_interval(days => ${retentionDays})
      limit 20000 for update skip locked)`,
    sql`delete from access.pending_sign_in where hash in (
      select hash from access.pending_sign_in where expires_at < ${time}
      limit 20000 for update skip locked)`,
    sql`delete from access.siwe_nonce where hash in (
      select hash from access.siwe_nonce where expires_at < ${time} limit 20000 for update skip locked)`,
    sql`delete from access.place where (account_id, network) in (
      select account_id, network from access.place
      where last_at < ${time} - make_interval(days => ${placeDays})
      limit 20000 for update skip locked)`,
  ];
  for (const statement of statements) await statement.execute(db);
}

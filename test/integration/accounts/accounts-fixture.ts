import { type Logger, pino } from "pino";
import type { AccountContext } from "#api/accounts/account-context.ts";
import { type BearerTokens, openBearerTokens } from "#api/accounts/bearer-tokens.ts";
import { type CallerStreams, openCallerStreams } from "#api/accounts/caller-streams.ts";
import type { Mail } from "#api/accounts/mail.ts";
import { openPasswords, type Passwords } from "#api/accounts/passwords.ts";
import { openPlaces } from "#api/accounts/places.ts";
import { openThrottle } from "#api/accounts/throttle.ts";
import { createApp } from "#api/app.ts";
import { answerFeed } from "#api/feed/answer-feed.ts";
import { openFeed } from "#api/feed/open-feed.ts";
import { listen } from "#api/http/server.ts";
import { openOwnKeys } from "#api/keys/key-terms.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { openUsage } from "#api/keys/open-access.ts";
import { openRequestLog } from "#api/keys/request-log.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { type ChainId, chainIds } from "#chains/index.ts";
import { openListener } from "#jobs/runner/signals.ts";
import { openDatabase } from "#projections/log/database.ts";
import { openTestMarket, testFee } from "#test/support/orders/test-market.ts";

export type Desk = {
  url: string;
  accounts: AccountContext;
  tokens: BearerTokens;
  /** Mail that was sent, the newest last. */
  mails: Mail[];
  /** Writes what is noted of used keys: their usage, their requests and where they are used. */
  flushUsage(): Promise<void>;
  streams: CallerStreams;
  close(): Promise<void>;
};

const idle: ServiceStatus = {
  ready: true,
  failing: [],
  warnings: [],
  logPosition: 0,
  chains: [],
  projections: [],
};

type Options = {
  databaseUrl: string;
  /** Without one the database's clock counts. */
  clock?: () => Date;
  baseUrl?: string;
  /** Where it listens; by default on a free one. */
  port?: number;
  passwords?: Passwords;
  /** Requests a minute without a key, and a twentieth of the pages; 0, the default: unlimited. */
  keyless?: number;
  /** Whether it also serves the pages of the market. */
  hasSite?: boolean;
  logger?: Logger;
  /** Origins that webhooks may be sent to. */
  webhookOrigins?: readonly string[];
  /** Chains served, and where their nodes are; by default one without a node. */
  rpcUrls?: Partial<Record<ChainId, string>>;
};

/** An API with its developer section, as one process has it: over connections of its own. */
export async function openDesk(options: Options): Promise<Desk> {
  const { databaseUrl, clock: now, logger = pino({ level: "silent" }) } = options;
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "desk",
    max: 4,
    prepares: true,
    onIdleError: () => {},
  });
  const clock = () => now?.() ?? null;
  const mails: Mail[] = [];
  const { rpcUrls = {} } = options;
  const market = openTestMarket(db, rpcUrls);
  const named = chainIds.filter((id) => id in rpcUrls);
  const chains = named.length > 0 ? named : ([33139] as const);
  const accounts: AccountContext = {
    ...{ chains, queryChain: market.queryChain },
    db,
    clock,
    throttle: openThrottle(db, clock),
    passwords: options.passwords ?? openPasswords(),
    mailer: { delivery: "mail", send: (mail) => void mails.push(mail), close: async () => {} },
    baseUrl: options.baseUrl ?? "http://127.0.0.1",
    reauthenticationMinutes: 15,
    webhookOrigins: options.webhookOrigins ?? [],
  };
  const limits = { keyless: options.keyless ?? 0, instant: 60, permanent: 120 };
  const usage = openUsage(db, now);
  const requests = openRequestLog(db);
  const places = openPlaces(accounts);
  const streams = openCallerStreams({ db, clock, logger, limits: { account: 2, address: 3 } });
  const source = { db, chainIds: [33139], feeRecipient: testFee.recipient };
  const feed = openFeed({ source, logger });
  const listener = openListener({
    url: databaseUrl,
    channels: ["access_ended"],
    logger,
    onNotify: streams.notify,
  });
  const context = {
    db,
    siteUrl: options.hasSite ? accounts.baseUrl : "https://site.example.test",
    chains,
    readStatus: async () => idle,
    market,
    ownKeys: openOwnKeys(db, limits),
    webhooks: accounts,
    accounts,
    now: now ?? (() => new Date()),
  };
  const tokens = openBearerTokens({ db, clock, onUse: places.onUse });
  const app = createApp({
    context,
    baseUrl: accounts.baseUrl,
    logger,
    limiter: openLimiter({
      ...{ db, limits, logger, now, deadlineMs: 20_000 },
      onAnswer: requests.add,
      onUse(use) {
        usage.onUse(use);
        const { accountId, address } = use;
        if (accountId !== null) places.onUse({ accountId, address, credential: "an API key" });
      },
    }),
    developers: {
      accounts,
      keyLimit: limits.permanent,
      accountApiUrl: `${accounts.baseUrl}/apechain`,
      chains: context.chains,
    },
    nftData: {
      context: { ...context, ...context.market, chainId: 33139, tokens },
      segment: "apechain",
      perMinute: 0,
      onUse: places.onUse,
      stream: answerFeed(feed),
    },
    streams,
    feedOf: (chainId) => (chainId === 33139 ? feed : undefined),
    trustProxy: ["127.0.0.1"],
  });
  const listening = await listen(app, "127.0.0.1", options.port ?? 0);
  return {
    url: `http://127.0.0.1:${listening.port}`,
    accounts,
    tokens,
    mails,
    async flushUsage() {
      await usage.flush();
      await requests.flush();
      await places.flush();
    },
    streams,
    async close() {
      await Promise.all([feed.stop(), streams.stop(), listener.stop()]);
      await listening.close();
      await db.destroy();
    },
  };
}

export type Page = { status: number; text: string; headers: Headers; location: string | null };

/** A browser without scripts: keeps cookies, says where forms come from, follows nothing. */
export type Browser = {
  address: string;
  cookie: string | null;
  get(path: string): Promise<Page>;
  /** Sends a form, with the session's form token where the last page had one. */
  post(
    path: string,
    fields?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Page>;
  /** The same browser, with the same cookie, at another process. */
  at(desk: Place): Browser;
};

let browsers = 0;

/** Where a developer section is. */
type Place = { readonly url: string; readonly accounts: Pick<AccountContext, "baseUrl"> };

export function openBrowser(desk: Place, address = newAddress()): Browser {
  let formToken = "";
  const origin = desk.url.replace(/^\w+:/, new URL(desk.accounts.baseUrl).protocol);
  const ask = async (path: string, init: RequestInit): Promise<Page> => {
    const response = await fetch(desk.url + path, {
      ...init,
      redirect: "manual",
      headers: {
        "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
        "x-forwarded-for": browser.address,
        ...(browser.cookie !== null && { cookie: browser.cookie }),
        ...init.headers,
      },
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined)
      browser.cookie = /Max-Age=0/.test(set) ? null : (set.split(";")[0] ?? "");
    const text = await response.text();
    formToken = /name="form" value="([^"]+)"/.exec(text)?.[1] ?? formToken;
    const { status, headers } = response;
    return { status, text, headers, location: headers.get("location") };
  };
  const browser: Browser = {
    address,
    cookie: null,
    get: (path) => ask(path, {}),
    post: (path, fields = {}, headers = {}) =>
      ask(path, {
        method: "post",
        body: new URLSearchParams({ form: formToken, ...fields }),
        headers: { origin, "sec-fetch-site": "same-origin", ...headers },
      }),
    at(other) {
      const copy = openBrowser(other, address);
      copy.cookie = browser.cookie;
      return copy;
    },
  };
  return browser;
}

/** An address that no other browser has. */
function newAddress(): string {
  browsers += 1;
  return `10.9.${browsers >> 8}.${browsers & 255}`;
}

export const password = "correct horse battery";

let people = 0;

export const newEmail = (): string => {
  people += 1;
  return `dev${people}@example.test`;
};

/** What the newest mail to an address leads to. */
export function linkOf(desk: Desk, email: string): string {
  const address = desk.mails.findLast(({ to }) => to === email)?.link;
  if (address === undefined) throw new Error(`no link was sent to ${email}`);
  return new URL(address).searchParams.get("link") ?? "";
}

/** Somebody who has an account and is signed in, on the page of the keys. */
export async function signUp(desk: Desk, email = newEmail()): Promise<Browser & { email: string }> {
  const browser = openBrowser(desk);
  await browser.post("/developers/sign-up", { email });
  await browser.post("/developers/confirm", { link: linkOf(desk, email), password });
  const { status } = await browser.get("/developers");
  if (status !== 200) throw new Error(`${email} has no account: ${status}`);
  return Object.assign(browser, { email });
}

export const signIn = (browser: Browser, email: string, given = password): Promise<Page> =>
  browser.post("/developers/sign-in", { email, password: given });

/** The one secret of a type that a page shows. */
export const secretIn = (page: Page, type: "live" | "client"): string =>
  new RegExp(`mk_${type}_[0-9A-Za-z]{49}`).exec(page.text)?.[0] ?? "";

/** Of the row of a key, by its last characters. */
export const keyIdOf = (page: Page, key: string): string =>
  new RegExp(`\\(${key.slice(-4)}\\).*?/developers/keys/(\\d+)/`, "s").exec(page.text)?.[1] ?? "";

/** What the market data API answers to a key. */
export async function statusWith(desk: Desk, key: string): Promise<number> {
  const headers = { "x-api-key": key };
  return (await fetch(`${desk.url}/v1/orders/params?chainId=5`, { headers })).status;
}

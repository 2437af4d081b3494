import { z } from "zod";
import { defaultGateways } from "#api/v1/media-links.ts";
import { coinSymbols } from "#chains/coins.ts";
import { accountChain, chainIds } from "#chains/index.ts";
import { exchangeNames } from "#jobs/prices/exchanges.ts";
import { defaultQuotas, type OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import { defaultFeeLimits } from "#projections/domain/royalty.ts";
import { chainSettings } from "./chain-settings.ts";
import { analyticsSettings, databaseSettings } from "./database-settings.ts";
import { partnerSettings } from "./partner-settings.ts";
import {
  addressSetting,
  mailSender,
  onOff,
  pathSegment,
  priceFeedList,
  setting,
  trustedProxies,
  urlList,
  urlOf,
  wholeNumber,
} from "./setting.ts";

const gatewayExpectation = "an http or https URL";

/** Gateways that this service fetches from, and those that its links point to. */
const gatewaySettings = {
  IPFS_GATEWAYS: setting(
    urlList("http:", "https:").default(["https://ipfs.io", "https://dweb.link"]),
    {
      meaning: "gateways for ipfs:// documents, tried in order",
      expectation: "http or https URLs, comma-separated",
      example: "http://127.0.0.1:8080,https://ipfs.io",
      fallback: "https://ipfs.io, https://dweb.link",
    },
  ),
  ARWEAVE_GATEWAY: setting(urlOf("http:", "https:").default("https://arweave.net"), {
    meaning: "gateway for ar:// documents",
    expectation: gatewayExpectation,
    example: "https://arweave.net",
  }),
  PUBLIC_IPFS_GATEWAY: setting(urlOf("http:", "https:").default(defaultGateways.ipfsGateway), {
    meaning: "gateway that links to ipfs:// images in responses point to; callers must reach it",
    expectation: gatewayExpectation,
    example: "https://ipfs.example.com",
  }),
  PUBLIC_ARWEAVE_GATEWAY: setting(
    urlOf("http:", "https:").default(defaultGateways.arweaveGateway),
    {
      meaning: "the same for ar:// images",
      expectation: gatewayExpectation,
      example: "https://arweave.example.com",
    },
  ),
  PICTURE_CACHE_MB: setting(wholeNumber(10, 1_000_000).default(1_000), {
    meaning:
      "megabytes of pictures that the pages show, made smaller, which are kept in DATA_DIR/pictures; those that nobody asked for the longest go first",
    expectation: "megabytes, 10 to 1000000",
    example: "5000",
  }),
};

const rateLimit = (whose: string, standard: number) =>
  setting(wholeNumber(0, 1_000_000).default(standard), {
    meaning: `requests per minute ${whose}; 0: unlimited`,
    expectation: "requests per minute, 0 to 1000000",
    example: `${standard}`,
  });

const concurrencyLimit = (meaning: string, standard: number) =>
  setting(wholeNumber(1, 10_000).default(standard), {
    meaning,
    expectation: "requests, 1 to 10000",
    example: `${standard}`,
  });

/** What callers may ask for in a minute, and at a time. */
const loadSettings = {
  RATE_LIMIT_KEYLESS: rateLimit("from an IP address without a key (IPv6: from a /64 network)", 30),
  RATE_LIMIT_INSTANT: rateLimit("of an instant key", 60),
  RATE_LIMIT_KEY: rateLimit(
    "of an account's permanent keys together, and of each key of an operator without its own limit",
    120,
  ),
  RATE_LIMIT_ACCOUNT: rateLimit("of an account in the account API", 120),
  CONCURRENCY_LIMIT: concurrencyLimit(
    "requests in progress in one API process; orders may take three quarters, reads outside the order book half, long lists a quarter, each class at least a sixteenth; further ones wait up to 5 s, then get 503",
    64,
  ),
  CONCURRENCY_LIMIT_CALLER: concurrencyLimit(
    "requests in progress of one caller in one API process, a bulk request counting as its items, up to half of them; further ones wait",
    16,
  ),
  STREAM_LIMIT_ACCOUNT: setting(wholeNumber(1, 4_000).default(10), {
    meaning:
      "open streams of one account in one API process, with its tokens and keys together; further ones get 429",
    expectation: "streams, 1 to 4000",
    example: "10",
  }),
  STREAM_LIMIT_ADDRESS: setting(wholeNumber(1, 4_000).default(50), {
    meaning:
      "open streams of one network address in one API process that belong to no account: of open pages and of keys without an account",
    expectation: "streams, 1 to 4000",
    example: "50",
  }),
  REAUTHENTICATION_MINUTES: setting(wholeNumber(1, 1_440).default(15), {
    meaning:
      "minutes after which a signed-in user must prove again who they are before keys are made or an account is changed",
    expectation: "minutes, 1 to 1440",
    example: "15",
  }),
};

const portExpectation = "a port number, 1 to 65535, other than PORT";

/** The operator's console and metrics. */
const operatorSettings = {
  OPERATOR_CONSOLE: setting(onOff.default(true), {
    meaning: "whether the operator's console runs",
    expectation: "on or off",
    example: "off",
    fallback: "on",
  }),
  OPERATOR_PORT: setting(wholeNumber(1, 65_535).optional(), {
    meaning:
      "port of the operator's console, with `/metrics` and a `/readyz` that names nodes; `/metrics` is then not on PORT",
    expectation: portExpectation,
    example: "4001",
    fallback:
      "the console: PORT + 1, or a free one; `/metrics` on PORT where HOST is loopback, else nowhere but on METRICS_PORT",
  }),
  OPERATOR_HOST: setting(z.string().min(1).default("127.0.0.1"), {
    meaning:
      "address the operator's console listens on; beyond loopback OPERATOR_PASSWORD is required",
    expectation: "a host name or IP address",
    example: "0.0.0.0",
  }),
  OPERATOR_PASSWORD: setting(z.string().min(12).optional(), {
    meaning: "password of the operator's console; the name that goes with it is the operator's own",
    expectation: "at least 12 characters",
    example: "a-long-random-password",
    fallback: "none: whoever is on this machine may use it",
    secret: true,
  }),
  METRICS_PORT: setting(wholeNumber(1, 65_535).optional(), {
    meaning:
      "port on METRICS_HOST where the API serves `/metrics`, from where the console passes it on; needed where API and console are started apart with one OPERATOR_PORT",
    expectation: portExpectation,
    example: "4002",
    fallback:
      "`npm start`: a free one if OPERATOR_PORT is set or HOST is not loopback; an API that runs alone: OPERATOR_PORT; without one on PORT, where HOST is loopback",
  }),
  METRICS_HOST: setting(z.string().min(1).default("127.0.0.1"), {
    meaning:
      "address that METRICS_PORT listens on; beyond loopback, as in a container, whoever reaches the port may read the metrics",
    expectation: "a host name or IP address",
    example: "0.0.0.0",
  }),
};

const orderQuota = (name: keyof OrderQuotas, meaning: string) =>
  setting(wholeNumber(1, 1_000_000_000).default(defaultQuotas[name]), {
    meaning,
    expectation: "a whole number, 1 to 1000000000",
    example: `${defaultQuotas[name]}`,
  });

/** What strangers' orders may cost. */
const orderSettings = {
  ORDER_QUOTA_MAKER: orderQuota(
    "maker",
    "open orders of a maker without trades; grows with trades, up to 10000; its new lists of tokens take at most 25 rows for each at once",
  ),
  ORDER_QUOTA_CONTRACT: orderQuota(
    "contract",
    "open listings of a contract without sales, and makers whose offers on it outbid another; grows with sales; verified collections have no limit",
  ),
  ORDER_BUDGET_UNTRADED: orderQuota(
    "untradedPerDay",
    "new listings a day and chain for all contracts without sales together",
  ),
  ORDER_BUDGET_NEWCOMERS: orderQuota(
    "newcomersPerDay",
    "new listings a day and chain of all makers without trades together, and as many offers of each size; their new lists of tokens take at most 25 rows for each",
  ),
  OFFER_EXPOSURE: orderQuota(
    "bidExposure",
    "largest sum of a maker's open offers, as a multiple of the balance that pays for them",
  ),
};

const accountPath = accountChain.name.toLowerCase();
const urlExpectation = "an http or https URL";

const enabled = (what: string, name: string) =>
  setting(onOff.default(true), {
    meaning: `whether ${what}; \`op pause ${name}\` and \`op resume ${name}\` change it at run time`,
    expectation: "on or off",
    example: "off",
    fallback: "on",
  });

/** Every setting, by its name in the environment. */
export const Environment = z.object({
  PORT: setting(wholeNumber(1, 65_535).default(4000), {
    meaning: "port of the API",
    expectation: "a port number, 1 to 65535",
    example: "4000",
  }),
  HOST: setting(z.string().min(1).default("127.0.0.1"), {
    meaning: "address the API listens on",
    expectation: "a host name or IP address",
    example: "0.0.0.0",
  }),
  ...operatorSettings,
  BASE_URL: setting(urlOf("http:", "https:").optional(), {
    meaning: "public address of the API",
    expectation: urlExpectation,
    example: "https://api.example.com",
    fallback: "from HOST and PORT",
  }),
  SITE_URL: setting(urlOf("http:", "https:").optional(), {
    meaning:
      "website that `urls` in responses point to; with the default these are the pages of this service",
    expectation: urlExpectation,
    example: "https://example.com",
    fallback: "BASE_URL",
  }),
  ACCOUNT_API_PATH: setting(pathSegment.default(accountPath), {
    meaning: `first path segment of the account API of ${accountChain.name}`,
    expectation: "lower-case letters, digits and hyphens, not a path in use",
    example: accountPath,
  }),
  ...databaseSettings,
  DATABASE_REPLICATION: setting(onOff.default(false), {
    meaning:
      "whether standbys on this machine may follow the embedded database; it then writes more of a write-ahead log",
    expectation: "true or false",
    example: "true",
  }),
  DATABASE_PORT: setting(wholeNumber(1_024, 65_535).optional(), {
    meaning: "port of the embedded database on 127.0.0.1",
    expectation: "a port number, 1024 to 65535, that nothing listens on",
    example: "15432",
    fallback: "a free one at the first start, which `DATA_DIR` keeps for all others",
  }),
  DATA_DIR: setting(z.string().min(1).default(".data"), {
    meaning: "directory of the embedded database and the local chains; deleting it resets them",
    expectation: "a directory",
    example: "/var/lib/orders",
  }),
  ...chainSettings,
  MARKET_PREFIX: setting(
    z
      .string()
      .regex(/^[a-z][a-z0-9]{1,11}$/)
      .default("mkt"),
    {
      meaning:
        "prefix of this marketplace's order ids; the tags in order salts and in purchase calldata are derived from it (API keys always start with `mk_`)",
      expectation: "2 to 12 lower-case letters and digits, starting with a letter",
      example: "mkt",
    },
  ),
  FEE_BPS: setting(wholeNumber(0, 10_000).default(100), {
    meaning: "marketplace fee in basis points",
    expectation: "basis points, 0 to 10000",
    example: "100",
  }),
  FEE_RECIPIENT: setting(addressSetting.optional(), {
    meaning: "recipient of the marketplace fee",
    expectation: `an address (required with ${chainIds.map((id) => `RPC_URL_${id}`).join(" or ")})`,
    example: "0x00000000000000000000000000000000000fee01",
    fallback: "required; local chains: an account of theirs",
  }),
  LISTINGS_ENABLED: enabled("new listings are accepted", "listings"),
  OFFERS_ENABLED: enabled("new offers are accepted", "offers"),
  BUYING_ENABLED: enabled("buy data is returned", "buying"),
  ...orderSettings,
  ...loadSettings,
  INSTANT_KEYS_ENABLED: enabled("instant keys are issued", "instant-keys"),
  TRUST_PROXY: setting(trustedProxies.default([]), {
    meaning:
      "trusted proxies for X-Forwarded-For: their number in front of the API, or their networks",
    expectation: "none, a number of proxies, or addresses and networks, comma-separated",
    example: "10.0.0.0/8,2001:db8::/32",
    fallback: "none",
  }),
  SMTP_URL: setting(urlOf("smtp:", "smtps:").optional(), {
    meaning: "mail server for address confirmations and password resets",
    expectation: "an smtp or smtps URL",
    example: "smtps://user:password@mail.example.com",
    fallback: "absent: no mail; on loopback the links are in the log",
    secret: true,
  }),
  MAIL_FROM: setting(mailSender.optional(), {
    meaning: "sender of mail",
    expectation: "an e-mail address, or a name and the address in angle brackets",
    example: "Order book <no-reply@example.com>",
    fallback: "required with SMTP_URL",
  }),
  SECURITY_CONTACT: setting(urlOf("mailto:", "https:").optional(), {
    meaning: "where weaknesses are reported to, in `/.well-known/security.txt`",
    expectation: "a mailto or https URL",
    example: "mailto:security@example.com",
    fallback: "absent: there is no such file",
  }),
  WEBHOOK_ALLOWED_ORIGINS: setting(urlList("http:", "https:").default([]), {
    meaning:
      "origins to which webhooks may be sent although they are not public, for receivers in your own network",
    expectation: "http or https URLs, comma-separated",
    example: "http://127.0.0.1:8080",
    fallback: "none: https on the public internet alone",
  }),
  CHECK_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(60), {
    meaning: "seconds between two checks of open orders on the chain, for changes without events",
    expectation: "seconds, 1 to 86400",
    example: "300",
    fallback: "60",
  }),
  CONTRACT_CHANGES_PER_HOUR: setting(wholeNumber(1, 1_000_000).default(20), {
    meaning:
      "how often a contract's answer (to a signature check or a simulated transfer) may change within an hour before it is rechecked less often",
    expectation: "changes, 1 to 1000000",
    example: "100",
    fallback: "20",
  }),
  PARTNER_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(30), {
    meaning:
      "minimum seconds between two polls of a partner marketplace for new listings of a collection",
    expectation: "seconds, 1 to 86400",
    example: "60",
    fallback: "30",
  }),
  PARTNER_ROYALTY_MAX_BPS: setting(wholeNumber(0, 10_000).default(defaultFeeLimits.maxBps), {
    meaning:
      "most that a partner may set as a collection's royalty, in basis points; more waits for `op royalties`",
    expectation: "0 to 10000",
    example: "1000",
  }),
  PARTNER_ROYALTY_CHANGE_BPS: setting(
    wholeNumber(0, 10_000).default(defaultFeeLimits.maxChangeBps),
    {
      meaning:
        "largest change of a royalty that a partner may make by itself, in basis points; more waits for `op royalties`",
      expectation: "0 to 10000",
      example: "250",
    },
  ),
  ...partnerSettings,
  PRICE_FEED_URLS: setting(priceFeedList.optional(), {
    meaning: `exchanges for prices of ${coinSymbols.join(" and ")}, as name=url; a price needs two that agree; known names: ${exchangeNames.join(", ")}`,
    expectation: "exchanges as name=url, comma-separated, each once, or none",
    example: "coinbase=https://api.exchange.coinbase.com,kraken=https://api.kraken.com",
    fallback: "all of them at their public URLs; local chains: a simulated one",
  }),
  ...gatewaySettings,
  ...analyticsSettings,
  LOG_LEVEL: setting(z.enum(["trace", "debug", "info", "warn", "error"]).default("info"), {
    meaning: "minimum level of log lines",
    expectation: "trace, debug, info, warn or error",
    example: "debug",
  }),
  LOG_FORMAT: setting(z.enum(["pretty", "json"]).optional(), {
    meaning: "format of log lines",
    expectation: "pretty or json",
    example: "json",
    fallback: "pretty on a terminal, else json",
  }),
});

export type Environment = z.output<typeof Environment>;

import { z } from "zod";
import { coinSymbols } from "#chains/coins.ts";
import { accountChain, chainIds } from "#chains/index.ts";
import { defaultFeeLimits } from "#projections/domain/royalty.ts";
import { exchangeNames } from "#jobs/prices/exchanges.ts";
import { analyticsSettings } from "./analytics-settings.ts";
import { chainSettings } from "./chain-settings.ts";
import { databaseSettings } from "./database-settings.ts";
import { gatewaySettings } from "./gateway-settings.ts";
import { loadSettings } from "./load-settings.ts";
import { operatorSettings } from "./operator-settings.ts";
import { orderSettings } from "./order-settings.ts";
import { partnerSettings } from "./partner-settings.ts";
import { address, mailSender, onOff, pathSegment, priceFeedList, setting, trustedProxies, urlOf, wholeNumber } from "./setting.ts";

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
  FEE_RECIPIENT: setting(address.optional(), {
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

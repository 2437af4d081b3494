import { z } from "zod";
import { commonConduit } from "../../../abis/deployments.ts";
import { exchangeNames } from "../../work/prices/feeds.ts";
import { partnerSettings } from "./partner-settings.ts";
import {
  address,
  bytes32,
  collectionList,
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

const blockNumber = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const finality = wholeNumber(1, 100_000);
const finalityMeaning = "blocks after which a block counts as final";
const urlExpectation = "an http or https URL";

const rpcUrl = (chain: string) =>
  setting(urlList("http:", "https:").optional(), {
    meaning: `JSON-RPC of ${chain}, comma-separated for several`,
    expectation: "http or https URLs, comma-separated",
    example: "https://rpc.example.com/key",
    fallback: "absent: local chains",
    secret: true,
  });
const wsUrl = (chain: string) =>
  setting(urlOf("ws:", "wss:").optional(), {
    meaning: `websocket of ${chain}, for new heads`,
    expectation: "a ws or wss URL, beside the chain's RPC_URL",
    example: "wss://rpc.example.com/key",
    fallback: "absent: polling",
    secret: true,
  });
const startBlock = (chain: string, example: string) =>
  setting(blockNumber.optional(), {
    meaning: `first block of ${chain} that is indexed`,
    expectation: "a block number",
    example,
    fallback: "exchange deployment, for transfers the curated contracts'; local chains: 0",
  });
const logsBlockRange = (chain: string) =>
  setting(wholeNumber(1, 100_000_000).optional(), {
    meaning: `blocks of ${chain} that one eth_getLogs asks for`,
    expectation: "a number of blocks that every RPC of the chain accepts",
    example: "10000",
    fallback: "500, less where the RPC refuses, more while it does not",
  });
const wrappedNativeEvents = (currency: string, fallback: string) =>
  setting(z.enum(["all", "none"]).optional(), {
    meaning: `deposits, withdrawals and transfers of ${currency} that are indexed`,
    expectation: "all or none",
    example: "all",
    fallback,
  });

const enabled = (what: string, name: string) =>
  setting(onOff.default(true), {
    meaning: `whether ${what}, until \`op pause ${name}\` or \`op resume ${name}\` says otherwise`,
    expectation: "on or off",
    example: "off",
    fallback: "on",
  });

const rateLimit = (whose: string, standard: number) =>
  setting(wholeNumber(0, 1_000_000).default(standard), {
    meaning: `requests a minute ${whose}; 0: no limit`,
    expectation: "requests a minute, or 0",
    example: `${standard}`,
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
  BASE_URL: setting(urlOf("http:", "https:").optional(), {
    meaning: "public address of the API",
    expectation: urlExpectation,
    example: "https://api.example.com",
    fallback: "from HOST and PORT",
  }),
  SITE_URL: setting(urlOf("http:", "https:").optional(), {
    meaning: "site that `urls` in answers point to",
    expectation: urlExpectation,
    example: "https://example.com",
    fallback: "BASE_URL",
  }),
  ACCOUNT_API_PATH: setting(pathSegment.default("apechain"), {
    meaning: "first part of the paths of the account API of ApeChain",
    expectation: "lower-case letters, digits and hyphens, no path that is taken",
    example: "apechain",
  }),
  DATABASE_URL: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: "PostgreSQL 15 to 18",
    expectation: "a postgres:// URL",
    example: "postgres://user:password@localhost:5432/orders",
    fallback: "absent: embedded PostgreSQL in DATA_DIR",
    secret: true,
  }),
  DATABASE_READ_URL: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: "replica for reads",
    expectation: "a postgres:// URL, beside DATABASE_URL",
    example: "postgres://user:password@replica:5432/orders",
    fallback: "DATABASE_URL",
    secret: true,
  }),
  DATA_DIR: setting(z.string().min(1).default(".data"), {
    meaning: "everything embedded keeps; deleting it resets",
    expectation: "a directory",
    example: "/var/lib/orders",
  }),
  RPC_URL_1: rpcUrl("Ethereum"),
  RPC_URL_33139: rpcUrl("ApeChain"),
  WS_URL_1: wsUrl("Ethereum"),
  WS_URL_33139: wsUrl("ApeChain"),
  START_BLOCK_1: startBlock("Ethereum", "19000000"),
  START_BLOCK_33139: startBlock("ApeChain", "1000000"),
  LOGS_BLOCK_RANGE_1: logsBlockRange("Ethereum"),
  LOGS_BLOCK_RANGE_33139: logsBlockRange("ApeChain"),
  COLLECTIONS_1: setting(collectionList.default([]), {
    meaning: "collections added to the curated ones of Ethereum; `*` = every collection seen",
    expectation: "addresses, comma-separated, or *",
    example: "0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d",
    fallback: "the curated ones",
  }),
  COLLECTIONS_33139: setting(collectionList.default("*"), {
    meaning: "the same for ApeChain",
    expectation: "addresses, comma-separated, or *",
    example: "*",
    fallback: "`*`",
  }),
  CURATED_FILE: setting(z.string().min(1).optional(), {
    meaning: "curated collections, as JSON",
    expectation: "a readable file",
    example: "/etc/orders/collections.json",
    fallback: "`abis/curated-collections.json`",
  }),
  WRAPPED_NATIVE_EVENTS_1: wrappedNativeEvents("WETH on Ethereum", "none; local chains: all"),
  WRAPPED_NATIVE_EVENTS_33139: wrappedNativeEvents("WAPE on ApeChain", "all"),
  FINALITY_1: setting(finality.default(64), {
    meaning: `${finalityMeaning} on Ethereum`,
    expectation: "a number of blocks, 1 to 100000",
    example: "64",
  }),
  FINALITY_33139: setting(finality.default(240), {
    meaning: `${finalityMeaning} on ApeChain`,
    expectation: "a number of blocks, 1 to 100000",
    example: "240",
  }),
  DEVNET_MARKET: setting(onOff.default(true), {
    meaning: "whether the local chains go on trading after their history",
    expectation: "on or off",
    example: "off",
    fallback: "on",
  }),
  MARKET_PREFIX: setting(
    z
      .string()
      .regex(/^[a-z][a-z0-9]{1,11}$/)
      .default("mkt"),
    {
      meaning: "prefix of ids and keys that this market gives out",
      expectation: "2 to 12 lower-case letters and digits, a letter first",
      example: "mkt",
    },
  ),
  FEE_BPS: setting(wholeNumber(0, 10_000).default(100), {
    meaning: "the market's fee, in hundredths of a percent",
    expectation: "basis points, 0 to 10000",
    example: "100",
  }),
  FEE_RECIPIENT: setting(address.optional(), {
    meaning: "receives the market's fee",
    expectation: "an address (required with RPC_URL_1 or RPC_URL_33139)",
    example: "0x00000000000000000000000000000000000fee01",
    fallback: "required; local chains: theirs",
  }),
  CONDUIT_KEY: setting(bytes32.default(commonConduit.key), {
    meaning: "conduit that orders are made for",
    expectation: "32 bytes as hex",
    example: commonConduit.key,
    fallback: "the exchange's common conduit",
  }),
  LISTINGS_ENABLED: enabled("listings are taken in", "listings"),
  OFFERS_ENABLED: enabled("offers are taken in", "offers"),
  BUYING_ENABLED: enabled("data to buy listings is given out", "buying"),
  RATE_LIMIT_KEYLESS: rateLimit("of an address without a key (of a /64 where it is IPv6)", 30),
  RATE_LIMIT_INSTANT: rateLimit("of an instant key", 60),
  RATE_LIMIT_KEY: rateLimit("of a permanent key that has no limit of its own", 120),
  RATE_LIMIT_ACCOUNT: rateLimit("of an account that asks the account API", 120),
  INSTANT_KEYS_ENABLED: enabled("instant keys are given out", "instant-keys"),
  TRUST_PROXY: setting(trustedProxies.default([]), {
    meaning:
      "proxies whose X-Forwarded-For is believed: how many stand before the API, or their networks",
    expectation: "none, a number of proxies, or addresses and networks, comma-separated",
    example: "10.0.0.0/8,2001:db8::/32",
    fallback: "none",
  }),
  SMTP_URL: setting(urlOf("smtp:", "smtps:").optional(), {
    meaning: "mail server that links to confirm addresses and to choose passwords are sent through",
    expectation: "an smtp or smtps URL",
    example: "smtps://user:password@mail.example.com",
    fallback: "absent: the links are written to the log",
    secret: true,
  }),
  MAIL_FROM: setting(mailSender.optional(), {
    meaning: "sender of that mail",
    expectation: "an e-mail address, or a name and the address in angle brackets",
    example: "Order book <no-reply@example.com>",
    fallback: "required with SMTP_URL",
  }),
  CHECK_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(60), {
    meaning: "time between two looks at the chain for what events do not tell of open orders",
    expectation: "seconds, from 1",
    example: "300",
    fallback: "60",
  }),
  PARTNER_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(30), {
    meaning:
      "least time between two looks at what a partner marketplace lists anew of a collection",
    expectation: "seconds, from 1",
    example: "60",
    fallback: "30",
  }),
  ...partnerSettings,
  PRICE_FEED_URLS: setting(priceFeedList.optional(), {
    meaning: `exchanges whose prices of ETH and APE are believed where two agree, as name=url; they are known as ${exchangeNames.join(", ")}`,
    expectation: "exchanges as name=url, comma-separated, each once, or none",
    example: "coinbase=https://api.exchange.coinbase.com,kraken=https://api.kraken.com",
    fallback: "all of them at their public addresses; local chains: a stand-in",
  }),
  IPFS_GATEWAYS: setting(
    urlList("http:", "https:").default(["https://ipfs.io", "https://dweb.link"]),
    {
      meaning: "gateways that ipfs documents are fetched through, tried in order",
      expectation: "http or https URLs, comma-separated",
      example: "http://127.0.0.1:8080,https://ipfs.io",
      fallback: "public ones",
    },
  ),
  ARWEAVE_GATEWAY: setting(urlOf("http:", "https:").default("https://arweave.net"), {
    meaning: "gateway that ar documents are fetched through",
    expectation: urlExpectation,
    example: "https://arweave.net",
  }),
  LOG_LEVEL: setting(z.enum(["trace", "debug", "info", "warn", "error"]).default("info"), {
    meaning: "least level of log lines",
    expectation: "trace, debug, info, warn or error",
    example: "debug",
  }),
  LOG_FORMAT: setting(z.enum(["pretty", "json"]).optional(), {
    meaning: "form of log lines",
    expectation: "pretty or json",
    example: "json",
    fallback: "pretty on a terminal, else json",
  }),
});

export type Environment = z.output<typeof Environment>;

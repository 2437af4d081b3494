import { z } from "zod";
import { commonConduit } from "../../../abis/deployments.ts";
import { exchangeNames } from "../../background/prices/feeds.ts";
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
const finalityMeaning = "number of blocks after which a block is treated as final";
const urlExpectation = "an http or https URL";

const rpcUrl = (chain: string) =>
  setting(urlList("http:", "https:").optional(), {
    meaning: `JSON-RPC of ${chain}; several are comma-separated`,
    expectation: "http or https URLs, comma-separated",
    example: "https://rpc.example.com/key",
    fallback: "absent: local chains",
    secret: true,
  });
const wsUrl = (chain: string) =>
  setting(urlOf("ws:", "wss:").optional(), {
    meaning: `websocket of ${chain} for new block heads`,
    expectation: "a ws or wss URL, together with the chain's RPC_URL",
    example: "wss://rpc.example.com/key",
    fallback: "absent: polling",
    secret: true,
  });
const startBlock = (chain: string, example: string) =>
  setting(blockNumber.optional(), {
    meaning: `first indexed block of ${chain}`,
    expectation: "a block number",
    example,
    fallback:
      "deployment of the exchange; for transfers, deployment of the oldest curated contract; local chains: 0",
  });
const logsBlockRange = (chain: string) =>
  setting(wholeNumber(1, 100_000_000).optional(), {
    meaning: `block range of one eth_getLogs request on ${chain}`,
    expectation: "a number of blocks that every RPC of the chain accepts",
    example: "10000",
    fallback: "500, then adapted to what the RPC accepts",
  });
const wrappedNativeEvents = (currency: string, fallback: string) =>
  setting(z.enum(["all", "none"]).optional(), {
    meaning: `whether deposits, withdrawals and transfers of ${currency} are indexed`,
    expectation: "all or none",
    example: "all",
    fallback,
  });

const enabled = (what: string, name: string) =>
  setting(onOff.default(true), {
    meaning: `whether ${what}; \`op pause ${name}\` and \`op resume ${name}\` change it at run time`,
    expectation: "on or off",
    example: "off",
    fallback: "on",
  });

const rateLimit = (whose: string, standard: number) =>
  setting(wholeNumber(0, 1_000_000).default(standard), {
    meaning: `requests per minute ${whose}; 0: unlimited`,
    expectation: "requests per minute, or 0",
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
    meaning: "website that `urls` in responses point to",
    expectation: urlExpectation,
    example: "https://example.com",
    fallback: "BASE_URL",
  }),
  ACCOUNT_API_PATH: setting(pathSegment.default("apechain"), {
    meaning: "first path segment of the account API of ApeChain",
    expectation: "lower-case letters, digits and hyphens, not a path in use",
    example: "apechain",
  }),
  DATABASE_URL: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: "PostgreSQL server, version 15 to 18",
    expectation: "a postgres:// URL",
    example: "postgres://user:password@localhost:5432/orders",
    fallback: "absent: embedded PostgreSQL in DATA_DIR",
    secret: true,
  }),
  DATABASE_READ_URL: setting(urlOf("postgres:", "postgresql:").optional(), {
    meaning: "read replica",
    expectation: "a postgres:// URL, together with DATABASE_URL",
    example: "postgres://user:password@replica:5432/orders",
    fallback: "DATABASE_URL",
    secret: true,
  }),
  DATA_DIR: setting(z.string().min(1).default(".data"), {
    meaning: "directory of the embedded database and the local chains; deleting it resets them",
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
    meaning:
      "collections of Ethereum indexed in addition to the curated ones; `*`: every collection",
    expectation: "addresses, comma-separated, or *",
    example: "0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d",
    fallback: "none",
  }),
  COLLECTIONS_33139: setting(collectionList.default("*"), {
    meaning:
      "collections of ApeChain indexed in addition to the curated ones; `*`: every collection",
    expectation: "addresses, comma-separated, or *",
    example: "*",
    fallback: "`*`",
  }),
  CURATED_FILE: setting(z.string().min(1).optional(), {
    meaning: "JSON file of the curated collections",
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
    meaning: "whether trading continues on the local chains after their initial history",
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
      meaning: "prefix of order ids and API keys of this marketplace",
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
    expectation: "an address (required with RPC_URL_1 or RPC_URL_33139)",
    example: "0x00000000000000000000000000000000000fee01",
    fallback: "required; local chains: an account of theirs",
  }),
  CONDUIT_KEY: setting(bytes32.default(commonConduit.key), {
    meaning: "conduit key of orders",
    expectation: "32 bytes as hex",
    example: commonConduit.key,
    fallback: "the common conduit of Seaport marketplaces",
  }),
  LISTINGS_ENABLED: enabled("new listings are accepted", "listings"),
  OFFERS_ENABLED: enabled("new offers are accepted", "offers"),
  BUYING_ENABLED: enabled("buy data is returned", "buying"),
  RATE_LIMIT_KEYLESS: rateLimit("from an IP address without a key (IPv6: from a /64 network)", 30),
  RATE_LIMIT_INSTANT: rateLimit("of an instant key", 60),
  RATE_LIMIT_KEY: rateLimit("of a permanent key without its own limit", 120),
  RATE_LIMIT_ACCOUNT: rateLimit("of an account in the account API", 120),
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
    fallback: "absent: the links are written to the log",
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
    expectation: "seconds, from 1",
    example: "300",
    fallback: "60",
  }),
  PARTNER_INTERVAL_SECONDS: setting(wholeNumber(1, 86_400).default(30), {
    meaning:
      "minimum seconds between two polls of a partner marketplace for new listings of a collection",
    expectation: "seconds, from 1",
    example: "60",
    fallback: "30",
  }),
  ...partnerSettings,
  PRICE_FEED_URLS: setting(priceFeedList.optional(), {
    meaning: `exchanges for prices of ETH and APE, as name=url; a price needs two that agree; known names: ${exchangeNames.join(", ")}`,
    expectation: "exchanges as name=url, comma-separated, each once, or none",
    example: "coinbase=https://api.exchange.coinbase.com,kraken=https://api.kraken.com",
    fallback: "all of them at their public URLs; local chains: a simulated one",
  }),
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
    expectation: urlExpectation,
    example: "https://arweave.net",
  }),
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

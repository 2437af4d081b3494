import { setting, wholeNumber } from "./setting.ts";

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
export const loadSettings = {
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

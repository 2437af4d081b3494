import { type Logger, pino } from "pino";
import { createApp } from "#api/app.ts";
import type { RequestLimits } from "#api/keys/count-requests.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { openUsage } from "#api/keys/open-access.ts";
import { openInstantKeys } from "#api/keys/stored-keys.ts";
import type { ServiceStatus } from "#api/status/service-status.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { openTestMarket } from "../orders/test-market.ts";
import { type ApiClient, serve } from "./openapi.ts";

export type LimitedApi = ApiClient & {
  /** The database connections of its limiter. */
  db: Database;
  flushUsage(): Promise<void>;
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
  url: string;
  limits?: Partial<RequestLimits>;
  /** Default: the database's clock. */
  now?: () => Date;
  trustProxy?: number | string[];
  isPaused?: () => Promise<boolean>;
  logger?: Logger;
  rpcUrls?: Parameters<typeof openTestMarket>[1];
};

/** An API with rate limits, like one process: with its own database connections. */
export async function openLimitedApi(options: Options): Promise<LimitedApi> {
  const { url, now, logger = pino({ level: "silent" }) } = options;
  const db = openDatabase({
    url,
    applicationName: "limited api",
    max: 4,
    prepares: true,
    onIdleError: () => {},
  });
  const limits = { keyless: 30, instant: 60, permanent: 120, ...options.limits };
  const usage = openUsage(db, now);
  const context = {
    db,
    siteUrl: "https://site.example.test",
    chains: [33139] as const,
    readStatus: async () => idle,
    market: openTestMarket(db, options.rpcUrls),
    instantKeys: openInstantKeys({
      db,
      requestsPerMinute: limits.instant,
      docs: "https://api.example.test/docs",
      isPaused: options.isPaused ?? (async () => false),
      ...(now && { now }),
    }),
    now: now ?? (() => new Date()),
  };
  const api = await serve(
    createApp({
      context,
      baseUrl: "https://api.example.test",
      logger,
      // A long timeout: a busy machine is not an outage.
      limiter: openLimiter({ db, limits, logger, now, onUse: usage.onUse, deadlineMs: 20_000 }),
      trustProxy: options.trustProxy ?? ["127.0.0.1"],
    }),
  );
  return {
    ...api,
    db,
    flushUsage: usage.flush,
    async close() {
      await api.close();
      await db.destroy();
    },
  };
}

/** A request that reads no table. */
export const anything = "/v1/orders/params?chainId=5";

/** The header that a proxy sets. */
export const from = (address: string, key?: string): Record<string, string> => ({
  "x-forwarded-for": address,
  ...(key !== undefined && { "x-api-key": key }),
});

let callers = 0;

/** An address that no other test uses. */
export function newAddress(): string {
  callers += 1;
  return `10.${callers >> 16}.${(callers >> 8) & 255}.${callers & 255}`;
}

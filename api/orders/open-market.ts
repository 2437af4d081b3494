import type { Logger } from "pino";
import type { Address } from "viem";
import { openAdmission } from "#api/orders/intake/admit-orders.ts";
import { deleteIdleBudgets } from "#api/orders/intake/makers.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { createQueryBatcher } from "#jobs/chain/query-chain.ts";
import { openPartners } from "#jobs/partners/open-partners.ts";
import { interactive } from "#jobs/partners/transport.ts";
import { createSignal, openListener, type Signal } from "#jobs/runner/signals.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import { orderBounds } from "#projections/domain/orders/order-terms.ts";
import { type Database, type DatabaseAddress, openDatabase } from "#projections/log/database.ts";
import { openSwitch } from "#projections/log/operators.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import { countOutcomes, type Market } from "./market.ts";

type MarketConfig = {
  fees: { bps: number; recipient: Address };
  market: {
    prefix: string;
    enabled: { listings: boolean; offers: boolean; buying: boolean };
    quotas: OrderQuotas;
  };
  chains: readonly {
    chainId: ChainId;
    rpcUrls: readonly string[];
    /** `all`: every NFT contract is indexed. */
    collections: "all" | readonly Address[];
  }[];
};

type OpenMarketConfig = MarketConfig & {
  database: { url: string; requests: DatabaseAddress };
  partners: Parameters<typeof openPartners>[0];
};

const rpcTimeoutMs = 3_000;
const budgetSweepMs = 600_000;

export function openMarket(config: OpenMarketConfig, logger: Logger): Market {
  const writer = openDatabase({
    ...config.database.requests,
    applicationName: "api orders",
    max: 10,
    prepares: true,
    plansOnce: true,
    statementTimeoutMs: 10_000,
    onIdleError: (error) => logger.warn({ err: error }, "database connection lost"),
  });
  const waiter = openProjectionWaiter({ db: writer, url: config.database.url, logger });
  const partners = openPartners(config.partners, interactive);
  const sweep = setInterval(() => {
    deleteIdleBudgets(writer, new Date()).catch((error: unknown) =>
      logger.warn({ err: error }, "order budget cleanup failed"),
    );
  }, budgetSweepMs);
  return {
    ...assembleMarket(config, { writer, partners, waitUntilProjected: waiter.waitFor }),
    async close() {
      clearInterval(sweep);
      await waiter.stop();
      await Promise.all([writer.destroy(), ...partners.map((partner) => partner.close())]);
    },
  };
}

/** A market that uses the caller's database and partners. */
export function assembleMarket(
  config: MarketConfig,
  {
    writer,
    partners,
    waitUntilProjected: waitUntil,
  }: Pick<Market, "writer" | "partners" | "waitUntilProjected">,
): Omit<Market, "close"> {
  let written = 0n;
  // Only then does its caller get it. Before, reads of others would wait for what they have not seen.
  const waitUntilProjected = async (position: bigint) => {
    const isReached = await waitUntil(position);
    if (position > written) written = position;
    return isReached;
  };
  const clients = new Map(
    config.chains.map(({ chainId, rpcUrls }) => [
      chainId,
      openChainClient({ chainId, rpcUrls, timeoutMs: rpcTimeoutMs }),
    ]),
  );
  const chain = (chainId: ChainId) => served(clients, chainId);
  const chainQueries = new Map(
    [...clients].map(([id, client]) => [id, createQueryBatcher(client)]),
  );
  const terms = (chainId: ChainId) => ({
    chainId,
    fee: config.fees,
    currency: wrappedNative[chainId],
    bounds: orderBounds,
  });
  const indexesAllContracts = (chainId: ChainId) =>
    config.chains.some((one) => one.chainId === chainId && one.collections === "all");
  const { prefix, enabled, quotas } = config.market;
  const switches = {
    listings: openSwitch(writer, "listings", !enabled.listings),
    offers: openSwitch(writer, "offers", !enabled.offers),
    buying: openSwitch(writer, "buying", !enabled.buying),
  };
  const admissionContext = { db: writer, chain, indexesAllContracts, quotas, waitUntilProjected };
  return {
    writer,
    prefix,
    terms,
    chains: [...clients.values()],
    chain,
    queryChain: (chainId, queries) => served(chainQueries, chainId)(queries),
    indexesAllContracts,
    isPaused: (feature) => switches[feature](),
    partners,
    quotas,
    ...countOutcomes(openAdmission(admissionContext, terms)),
    waitUntilProjected,
    writtenPosition: () => written,
  };
}

function served<Value>(values: ReadonlyMap<ChainId, Value>, chainId: ChainId): Value {
  const value = values.get(chainId);
  if (value === undefined) throw new Error(`chain ${chainId} is not served`);
  return value;
}

/** How long a response waits for the projection of what was just appended. */
const deadlineMs = 2_000;
/** Notifications may be lost. */
const pollMs = 100;

type ProjectionWaiter = {
  /** Waits until the projections of orders have reached a position of the log; false after the deadline. */
  waitFor(position: bigint): Promise<boolean>;
  stop(): Promise<void>;
};

export function openProjectionWaiter(options: {
  db: Database;
  url: string;
  logger: Logger;
}): ProjectionWaiter {
  const { db, url, logger } = options;
  const waiting = new Set<Signal>();
  const aborter = new AbortController();
  const listener = openListener({
    url,
    logger,
    channels: ["projected"],
    onNotify: () => {
      for (const signal of waiting) signal.notify();
    },
  });
  return {
    async waitFor(position) {
      const signal = createSignal();
      waiting.add(signal);
      try {
        return await pollUntil(db, position, (ms) => signal.wait(ms, aborter.signal));
      } finally {
        waiting.delete(signal);
      }
    },
    async stop() {
      aborter.abort();
      await listener.stop();
    },
  };
}

async function pollUntil(
  db: Database,
  position: bigint,
  pause: (ms: number) => Promise<unknown>,
): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    if ((await readOrderBookPosition(db)) >= position) return true;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return false;
    await pause(Math.min(leftMs, pollMs));
  }
}

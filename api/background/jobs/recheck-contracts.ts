import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../../projections/database.ts";
import {
  type ContractSignedOrder,
  type ListingToRecheck,
  readCheapestListings,
  readContractSignedOrders,
  readPossiblyRestrictedListings,
} from "../../../projections/reads/orders/read-orders-without-events.ts";
import type { ChainClient } from "../chain/clients.ts";
import { fetchReadBasis } from "../chain/contract-calls.ts";
import { RpcFailure } from "../chain/rpc-batch.ts";
import { backOff, sleep } from "./back-off.ts";
import { createOrderScan, type OrderScan } from "./order-scan.ts";
import { recheckOrders, type StateWithoutEvents } from "./recheck-orders.ts";

/** Minimum time between two passes over contracts. */
const minPassMs = 1_000;
/** Time between two polls for a new block, each one RPC request; `idle` while nothing is listed. */
const pollMs = { watching: 500, idle: 1_000 };

/** Maximum orders of each scan per pass. */
const batchSizes = { signed: 100, restricted: 50, cheapest: 50 };

type RecheckOptions = {
  db: Database;
  client: ChainClient;
  limits?: typeof batchSizes;
  logger: Logger;
  signal: AbortSignal;
};

type RecheckState = {
  head: Hex | null;
  /** Whether the last block had nothing to recheck. */
  isIdle: boolean;
  scans: readonly (OrderScan & { kind: StateWithoutEvents })[];
};

/**
 * With each new block rereads state that contracts change without an event: whether contract wallets still accept
 * their signatures, and whether NFT contracts let the conduit transfer listed tokens. A pass is bounded and the next
 * one continues it: the more orders, the less often each is reread, least recently read first.
 */
export async function runContractRechecks(options: RecheckOptions): Promise<void> {
  const { logger, signal } = options;
  const { chainId } = options.client;
  const state: RecheckState = { head: null, isIdle: true, scans: openScans(options) };
  let failures = 0;
  while (!signal.aborted) {
    try {
      await runPass(options, state);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      state.head = null;
      const message = "rechecking contracts failed, retrying";
      if (error instanceof RpcFailure) logger.warn({ chainId, reason: error.message }, message);
      else logger.error({ err: error, chainId }, message);
      await backOff(failures, signal);
    }
  }
}

async function runPass(options: RecheckOptions, state: RecheckState): Promise<void> {
  const { db, client, logger, signal } = options;
  const startedAt = Date.now();
  const { hash } = await fetchReadBasis(client);
  const isNew = hash !== state.head;
  if (isNew) restartScans(state);
  state.head = hash;
  const rechecks = await Promise.all(
    state.scans.map(async (scan) => ({ kind: scan.kind, orders: await scan.nextBatch() })),
  );
  const changed = await recheckOrders(db, client, rechecks, new Date());
  if (changed > 0) {
    logger.info(
      { chainId: client.chainId, readings: changed },
      "contract readings changed without an event",
    );
    // A contract whose answer changed for one order may have changed for others.
    restartScans(state);
  }
  const hasRechecked = rechecks.some(({ orders }) => orders.length > 0);
  if (isNew) state.isIdle = !hasRechecked;
  const nextPollMs = state.isIdle ? pollMs.idle : pollMs.watching;
  const waitMs = startedAt + (hasRechecked ? minPassMs : nextPollMs) - Date.now();
  await sleep(Math.max(0, waitMs), signal);
}

function restartScans({ scans }: RecheckState): void {
  for (const scan of scans) scan.restart();
}

function openScans({
  db,
  client: { chainId },
  limits = batchSizes,
}: RecheckOptions): RecheckState["scans"] {
  const signed = (after: ContractSignedOrder | null, limit: number) =>
    readContractSignedOrders(db, chainId, after, limit);
  const restricted = (after: ListingToRecheck | null, limit: number) =>
    readPossiblyRestrictedListings(db, chainId, after, limit);
  const cheapest = (after: ListingToRecheck | null, limit: number) =>
    readCheapestListings(db, chainId, after, limit);
  return [
    { kind: "signature_read", ...createOrderScan(signed, limits.signed) },
    { kind: "transfer_read", ...createOrderScan(restricted, limits.restricted) },
    { kind: "transfer_read", ...createOrderScan(cheapest, limits.cheapest) },
  ];
}

import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { appendChangedReadings } from "#projections/orders/changed-readings.ts";
import { readOrderBookPosition } from "#projections/orders/read-orders.ts";
import {
  type ContractSignedOrder,
  type ListingToRecheck,
  readCheapestListings,
  readContractSignedOrders,
  readListingsApprovedAlone,
  readPossiblyRestrictedListings,
  type TokenApprovedAlone,
} from "#projections/orders/read-orders-without-events.ts";
import { readMarketplaceOrders } from "#projections/orders/read-signed-orders.ts";
import type { ChainClient } from "../chain/client.ts";
import { queryChain } from "../chain/query-chain.ts";
import { sleep } from "../runner/back-off.ts";
import type { Job } from "../runner/job.ts";
import type { Signal } from "../runner/signals.ts";
import type { ChangingContracts, StateWithoutEvents } from "./changing-contracts.ts";
import { questionsOf } from "./check-orders.ts";
import type { HeadWatch } from "./head-watch.ts";

/**
 * Passes over contracts: one with each new block, however fast blocks come at the least a quarter of a second after the
 * one before; those that continue it, one a second on average, and as many at once after a quiet time.
 */
const pace = { passMs: 1_000, atOnce: 4, blockMs: 250 };

/** Time after a new block in which orders that its events change are looked for. */
const derivingMs = 3_000;

/** Maximum orders of each scan per pass. */
const batchSizes = { signed: 100, restricted: 50, cheapest: 50, approvedAlone: 100 };

type RecheckOptions = {
  db: Database;
  client: ChainClient;
  changing: ChangingContracts;
  head: HeadWatch;
  /** Notified when the projections have moved. */
  changeSignal: Signal;
  limits?: typeof batchSizes;
  logger: Logger;
};

type RecheckState = {
  head: Hex | null;
  /** When the head was first seen, and the order book's position at the last pass. */
  headAt: number;
  position: bigint;
  /** Time from which on a pass over the same block needs no wait. */
  freeAt: number;
  /** Whether the last pass rechecked orders. */
  hasRechecked: boolean;
  /** Whether the last block had nothing to recheck. */
  isIdle: boolean;
  scans: readonly (OrderScan & { kinds: readonly RecheckedKind[] })[];
};

/**
 * With each new block rereads state that contracts change without an event: whether contract wallets still accept
 * their signatures and take what they are paid, whether NFT contracts let the conduit transfer listed tokens, and whether
 * tokens are still approved that are approved alone, of which no events are indexed. A pass
 * is bounded and the next one continues it: the more orders, the less often each is reread, least recently read first.
 */
export function contractRechecks(options: RecheckOptions): Job {
  const state: RecheckState = {
    head: null,
    hasRechecked: false,
    isIdle: true,
    headAt: 0,
    position: 0n,
    freeAt: 0,
    scans: openScans(options),
  };
  const wait = options.head.openWait(options.changeSignal);
  return {
    name: "contract rechecks",
    about: { chainId: options.client.chainId },
    wakesOn: {
      wait: (_, signal) =>
        state.hasRechecked ? rest({ ...options, signal }, state, wait) : wait(state),
    },
    reads: ["listings", "bids"],
    async run() {
      try {
        state.hasRechecked = await runPass(options, state);
        return undefined;
      } catch (error) {
        state.head = null;
        throw error;
      }
    },
  };
}

/** Returns whether orders were rechecked. */
async function runPass(options: RecheckOptions, state: RecheckState): Promise<boolean> {
  const { db, client, head, logger } = options;
  const startedAt = Date.now();
  const { hash } = await head.latest();
  const position = await readOrderBookPosition(db);
  const isNew = hash !== state.head;
  if (isNew) state.headAt = startedAt;
  // Orders that the block's events reactivate are derived after it was announced.
  const isDeriving = startedAt - state.headAt < derivingMs;
  if (isNew || (isDeriving && position > state.position)) restartScans(state);
  state.head = hash;
  state.position = position;
  const rechecks = await Promise.all(
    state.scans.map(async (scan) => ({ kinds: scan.kinds, orders: await scan.nextBatch() })),
  );
  const changed = await recheckOrders(db, options, rechecks, new Date());
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
  if (!hasRechecked) return false;
  const quietSince = startedAt - (pace.atOnce - 1) * pace.passMs;
  state.freeAt = Math.min(Math.max(state.freeAt, quietSince), startedAt) + pace.passMs;
  return true;
}

/** Until the pace allows a pass over the same block, or there is another block. */
async function rest(
  { head, signal }: Pick<RecheckOptions, "head"> & { signal: AbortSignal },
  state: RecheckState,
  wait: ReturnType<HeadWatch["openWait"]>,
): Promise<void> {
  const leftMs = () => Math.max(0, state.freeAt - Date.now());
  await sleep(Math.min(pace.blockMs, leftMs()), signal);
  while (leftMs() > 0 && !signal.aborted) {
    await wait({ atMostMs: leftMs() });
    if ((await head.latest()).hash !== state.head) return;
  }
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
  const approvedAlone = (after: TokenApprovedAlone | null, limit: number) =>
    readListingsApprovedAlone(db, chainId, after, limit);
  const cheapest = (after: ListingToRecheck | null, limit: number) =>
    readCheapestListings(db, chainId, after, limit);
  return [
    { kinds: ["signature_read", "recipients_read"], ...createOrderScan(signed, limits.signed) },
    { kinds: ["transfer_read"], ...createOrderScan(restricted, limits.restricted) },
    { kinds: ["transfer_read"], ...createOrderScan(cheapest, limits.cheapest) },
    {
      kinds: ["token_approval_read"],
      ...createOrderScan(approvedAlone, limits.approvedAlone),
    },
  ];
}

/** What is read again of orders. An account that approves a token anew is no contract that changes its mind. */
type RecheckedKind = StateWithoutEvents | "token_approval_read";

type Rechecks = readonly { kinds: readonly RecheckedKind[]; orders: readonly Hex[] }[];

/**
 * Makes chain readings of the kinds for each order whose contracts may be asked, and appends those that changed. Returns
 * their number. Throws `RpcFailure`.
 */
export async function recheckOrders(
  db: Database,
  { client, changing }: { readonly client: ChainClient; readonly changing: ChangingContracts },
  rechecks: Rechecks,
  now: Date,
): Promise<number> {
  const { chainId } = client;
  const hashes = rechecks.flatMap(({ orders }) => orders);
  if (hashes.length === 0) return 0;
  const stored = await readMarketplaceOrders(db, chainId, hashes);
  const questions = rechecks.flatMap(({ kinds, orders }) =>
    orders.flatMap((orderHash) => {
      const order = stored.get(orderHash);
      if (order === undefined) return [];
      return questionsOf({ ...order, orderHash }).filter(
        (question) => kinds.some((kind) => kind === question.kind) && changing.mayAsk(question),
      );
    }),
  );
  if (questions.length === 0) return 0;
  const { basis, readings } = await queryChain(client, questions);
  const changed = await appendChangedReadings(db, [{ chainId, basis, readings }], now);
  changing.record(changed?.appended ?? []);
  return changed?.appended.length ?? 0;
}

/** Repeated passes over a list of orders, a batch at a time. */
type OrderScan = {
  /** Requests a full pass, starting at the current position. */
  restart(): void;
  /** The next batch; empty when the pass is complete. */
  nextBatch(): Promise<Hex[]>;
};

function createOrderScan<Position extends { orderHash: Hex }>(
  read: (after: Position | null, limit: number) => Promise<Position[]>,
  limit: number,
): OrderScan {
  let after: Position | null = null;
  let passesLeft = 0;
  return {
    restart() {
      // In the middle of a pass, orders before the position were read too early and need another pass.
      passesLeft = after === null ? 1 : 2;
    },
    async nextBatch() {
      if (passesLeft === 0) return [];
      const batch = await read(after, limit);
      after = batch.length < limit ? null : (batch.at(-1) ?? null);
      if (after === null) passesLeft -= 1;
      return batch.map(({ orderHash }) => orderHash);
    },
  };
}

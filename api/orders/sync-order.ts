import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import {
  fetchTransactionProof,
  type ReceiptEvent,
  type TransactionProof,
} from "#jobs/chain/fetch-receipt.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { bidQueries } from "#jobs/orders/evaluate-bid.ts";
import { listingQueries } from "#jobs/orders/evaluate-listing.ts";
import { type CheckedOrder, chainUnavailable, orderQueries } from "#jobs/orders/evaluate-order.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { ChainReading, ReadingBasis } from "#projections/log/readings.ts";
import { readAcceptedOrders } from "#projections/orders/read-signed-orders.ts";
import { type Market, recordReadings } from "./market.ts";

export type SyncRequest = {
  chainId: ChainId;
  orderHash: Hex;
  /** A transaction that may have ended the order. */
  txHash: Hex | null;
};

type Synced = {
  blockNumber: bigint;
  /** The position of the log that the order is to be read at, where the projections have not reached it in time. */
  awaited: bigint | null;
};

/** Fetches all chain state that an order depends on, and waits for a while until it is projected. */
export async function syncOrder(
  market: Market,
  { chainId, orderHash, txHash }: SyncRequest,
  now: Date,
): Promise<Synced | Rejection<"not_found" | "rpc_unavailable">> {
  const stored = (await readAcceptedOrders(market.writer, chainId, [orderHash])).get(orderHash);
  if (stored === undefined) return reject("not_found", `No order ${orderHash}`);
  const order = { ...stored, orderHash };
  const queries = order.terms.side === "ask" ? listingQueries : bidQueries;
  const client = market.chain(chainId);
  try {
    const [results, proof] = await Promise.all([
      market.queryChain(chainId, queries(order)),
      txHash === null ? null : fetchTransactionProof(client, txHash),
    ]);
    await recordReadings(market, { chainId, ...results }, now);
    const ahead = proof === null ? null : readingsAhead(order, results, proof);
    if (ahead !== null) await recordReadings(market, { chainId, ...ahead }, now);
    // Unchanged readings are in the log already, but perhaps not yet projected.
    const head = await readLogHead(market.writer);
    const isProjected = await market.waitUntilProjected(head);
    return { blockNumber: (ahead ?? results).basis.number, awaited: isProjected ? null : head };
  } catch (error) {
    if (error instanceof RpcFailure) return chainUnavailable();
    throw error;
  }
}

type ProvenReadings = { basis: ReadingBasis; readings: ChainReading[] };

/** Readings proven by a receipt of a later block than the results': nodes of one chain may differ by some blocks. */
function readingsAhead(
  order: CheckedOrder,
  results: ChainResults,
  proof: TransactionProof,
): ProvenReadings | null {
  if ("proves" in proof || proof.basis.number <= results.basis.number) return null;
  const readings = proof.events.flatMap((event) => readingOf(event, order, results) ?? []);
  return readings.length === 0 ? null : { basis: proof.basis, readings };
}

function readingOf(
  event: ReceiptEvent,
  order: CheckedOrder,
  results: ChainResults,
): ChainReading | null {
  const { offerer: maker, counter } = order.components;
  if (event.kind === "order_cancelled" && event.orderHash === order.orderHash) {
    const before = results.find(orderQueries(order).status);
    const fills = { filled: before?.filled ?? 0n, size: before?.size ?? 0n };
    return { kind: "order_status_read", orderHash: order.orderHash, cancelled: true, ...fills };
  }
  if (
    event.kind === "counter_incremented" &&
    event.offerer === maker &&
    event.newCounter > counter
  ) {
    return { kind: "counter_read", maker, counter: event.newCounter };
  }
  return null;
}

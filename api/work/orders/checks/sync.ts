import type { Hex } from "viem";
import type { ChainId } from "../../../../abis/deployments.ts";
import type {
  ChainReading,
  ReadingBasis,
} from "../../../../projections/chain-readings/chain-reading.ts";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import { readLogHead } from "../../../../projections/log/status.ts";
import { readSignedOrder } from "../../../../projections/reads/orders/read-signed-order.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import { type ExchangeEvent, fetchProof, type Proof } from "../../chain/receipt.ts";
import { RpcFailure } from "../../chain/rpc-batch.ts";
import { questionsOfBid } from "../accepting/accept-check.ts";
import { questionsOfListing } from "../buying/buy-check.ts";
import type { Market } from "../market.ts";
import { type CheckedOrder, orderQuestions, unanswered } from "./check-order.ts";
import { recordReadings } from "./record-readings.ts";

export type SyncRequest = {
  chainId: ChainId;
  orderHash: Hex;
  /** A transaction that may have ended the order. */
  txHash: Hex | null;
};

/** Looks at the chain for all that an order's state rests on; the books tell of it when this returns. */
export async function syncOrder(
  market: Market,
  { chainId, orderHash, txHash }: SyncRequest,
  now: Date,
): Promise<{ blockNumber: bigint } | Rejection<"not_found" | "rpc_unavailable">> {
  const stored = (await readSignedOrder(market.writer, chainId, [orderHash])).get(orderHash);
  if (stored === undefined) return reject("not_found", `No order ${orderHash}`);
  const order = { ...stored, orderHash };
  const questions = order.terms.side === "ask" ? questionsOfListing : questionsOfBid;
  const client = market.chain(chainId);
  try {
    const [answers, proof] = await Promise.all([
      market.ask(chainId, questions(order)),
      txHash === null ? null : fetchProof(client, txHash),
    ]);
    await recordReadings(market, { chainId, ...answers }, now);
    const ahead = proof === null ? null : provenAhead(order, answers, proof);
    if (ahead !== null) await recordReadings(market, { chainId, ...ahead }, now);
    // What was no news stands in the log, but perhaps not yet in the books.
    await market.untilProjected(await readLogHead(market.writer));
    return { blockNumber: (ahead ?? answers).basis.number };
  } catch (error) {
    if (error instanceof RpcFailure) return unanswered();
    throw error;
  }
}

type Proven = { basis: ReadingBasis; readings: ChainReading[] };

/** What a receipt proves that the answers cannot show yet: one node of several may be some blocks behind another. */
function provenAhead(order: CheckedOrder, answers: ChainAnswers, proof: Proof): Proven | null {
  if ("proves" in proof || proof.basis.number <= answers.basis.number) return null;
  const readings = proof.events.flatMap((event) => readingOf(event, order, answers) ?? []);
  return readings.length === 0 ? null : { basis: proof.basis, readings };
}

function readingOf(
  event: ExchangeEvent,
  order: CheckedOrder,
  answers: ChainAnswers,
): ChainReading | null {
  const { offerer: maker, counter } = order.components;
  if (event.kind === "order_cancelled" && event.orderHash === order.orderHash) {
    const before = answers.find(orderQuestions(order).status);
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

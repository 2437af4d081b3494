import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import { findChangedReadings } from "#projections/orders/changed-readings.ts";
import type { Database } from "#projections/log/database.ts";
import type { TradeTerms } from "#projections/domain/orders/order-terms.ts";
import { orderSubmitted } from "#projections/orders/read-signed-orders.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";
import type { PendingOrder } from "./pending-order.ts";

export type Accepted = { pending: PendingOrder; terms: TradeTerms };

/**
 * Appends accepted orders of a chain, together with the chain readings that differ from the log, in one transaction.
 * Returns the position of the log's last fact.
 */
export async function appendOrders(
  db: Database,
  chainId: ChainId,
  { accepted, results, now }: { accepted: readonly Accepted[]; results: ChainResults; now: Date },
): Promise<bigint> {
  const orders = accepted.map(({ pending: { order, signatureCheck, now: receivedAt }, terms }) => {
    const { orderHash, components } = order;
    const signature = signatureToStore(order, signatureCheck, results);
    const isContractSigned = signatureCheck.signedBy !== "maker";
    const signed = { orderHash, components, signature, isContractSigned };
    return orderSubmitted({ chainId, ...signed, terms, receivedAt });
  });
  const { basis, readings } = results;
  const observed = await findChangedReadings(db, { chainId, basis, readings }, now);
  const { head } = await appendObservations(db, [...orders, ...observed]);
  return head;
}

/** None of an account without code that validated the order on chain: whatever else it sent is not its signature. */
function signatureToStore(
  { signature, maker: address }: PendingOrder["order"],
  { signedBy }: PendingOrder["signatureCheck"],
  results: ChainResults,
): Hex {
  if (signedBy === "maker") return signature;
  return results.find({ kind: "code", address })?.hasCode ? signature : "0x";
}

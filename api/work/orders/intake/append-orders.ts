import type { ChainId } from "../../../../abis/deployments.ts";
import { newReadings } from "../../../../projections/chain-readings/new-readings.ts";
import type { Database } from "../../../../projections/database.ts";
import type { TradeTerms } from "../../../../projections/domain/orders/trade-terms.ts";
import { orderSubmitted } from "../../../../projections/facts/submitted-order.ts";
import { appendObservations } from "../../../../projections/log/append.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Candidate } from "./candidate.ts";

export type Accepted = { candidate: Candidate; terms: TradeTerms };

/**
 * Appends accepted orders of a chain together with what the chain said about them that the log does not tell, in one
 * transaction. Returns the position of the log's last fact.
 */
export async function appendOrders(
  db: Database,
  chainId: ChainId,
  { accepted, answers, now }: { accepted: readonly Accepted[]; answers: ChainAnswers; now: Date },
): Promise<bigint> {
  const orders = accepted.map(({ candidate: { order, verdict, now: receivedAt }, terms }) => {
    const { orderHash, components, signature } = order;
    const isContractSigned = verdict.signedBy !== "maker";
    const signed = { orderHash, components, signature, isContractSigned };
    return orderSubmitted({ chainId, ...signed, terms, receivedAt });
  });
  const { basis, readings } = answers;
  const observed = await newReadings(db, { chainId, basis, readings }, now);
  const { head } = await appendObservations(db, [...orders, ...observed]);
  return head;
}

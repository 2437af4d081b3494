import type { Hex } from "viem";
import type { ExchangeEvent } from "#projections/facts/exchange-event.ts";
import type { ExchangeFact, ExchangeTransaction } from "./exchange.ts";

/** A transaction of its facts, in log order. Those that are stored with its transfers hold all of them. */
export function exchangeTransaction(
  chainId: number,
  hash: Hex,
  facts: readonly ExchangeFact[],
): ExchangeTransaction {
  return { chainId, hash, facts, transfers: transfersOf(facts) };
}

function transfersOf(facts: readonly ExchangeFact[]): ExchangeTransaction["transfers"] {
  for (const fact of facts) {
    const { transfers } = (fact.payload ?? {}) as Partial<ExchangeEvent>;
    if (transfers && !isOfUnknownPool(fact)) return transfers;
  }
  return [];
}

/**
 * Whether a fact is an event of a pool that no factory created. It costs its contract 900 gas, and changes nothing of the
 * transaction's sales: whoever asks for these alone may leave it out.
 */
export const isOfUnknownPool = ({ payload }: Pick<ExchangeFact, "payload">): boolean =>
  (payload as Partial<ExchangeEvent> | null)?.factory === null;

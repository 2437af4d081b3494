import type { Hex } from "viem";
import type { ExchangeEvent } from "../../facts/exchange-event.ts";
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
  for (const { payload } of facts) {
    const { transfers } = (payload ?? {}) as Partial<ExchangeEvent>;
    if (transfers) return transfers;
  }
  return [];
}

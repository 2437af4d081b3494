import { LRUCache } from "lru-cache";
import type { Address } from "viem";

/** Contracts in memory; the least recently used is dropped first. */
const maxContracts = 10_000;
/** Time without calls after a costly answer: doubled each time, and halved by cheap answers. */
const initialMs = 5_000;
const maxMs = 600_000;

type Rest = { costly: number; coolDownUntil: number };

/**
 * Which contracts answered calls cheaply, and which are not called for a while as they did not. `asker`: see
 * `ExecutionOptions`; a rest of its calls is no rest of the contract.
 */
export function createContractHealth(now: () => number = () => performance.now()) {
  const cheap = new LRUCache<Address, true>({ max: maxContracts });
  const rests = new LRUCache<string, Rest>({ max: maxContracts });
  const keyOf = (contract: Address, asker: string | undefined) => `${contract} ${asker ?? ""}`;
  const isResting = (key: string) => (rests.get(key)?.coolDownUntil ?? 0) > now();
  return {
    isCoolingDown: (contract: Address, asker?: string) =>
      isResting(keyOf(contract, undefined)) || isResting(keyOf(contract, asker)),
    isCheap: (contract: Address) => cheap.get(contract) ?? false,
    recordCheap(contract: Address, asker?: string): void {
      cheap.set(contract, true);
      const key = keyOf(contract, asker);
      const costly = (rests.get(key)?.costly ?? 0) - 1;
      if (costly > 0) rests.set(key, { costly, coolDownUntil: 0 });
      else rests.delete(key);
    },
    recordCostly(contract: Address, asker?: string): void {
      cheap.delete(contract);
      const key = keyOf(contract, asker);
      const costly = (rests.get(key)?.costly ?? 0) + 1;
      const coolDownMs = Math.min(initialMs * 2 ** (costly - 1), maxMs);
      rests.set(key, { costly, coolDownUntil: now() + coolDownMs });
    },
    /** It is called alone the next time: one of several was costly, and nobody knows which. */
    suspect(contract: Address): void {
      cheap.delete(contract);
    },
    countCoolingDown: () => [...rests.keys()].filter(isResting).length,
  };
}

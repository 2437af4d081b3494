import { LRUCache } from "lru-cache";
import type { Address } from "viem";

/** Contracts in memory; the least recently used is dropped first. */
const maxContracts = 10_000;
/** Time without calls after a costly answer: doubled each time, and halved by cheap answers. */
const firstRestMs = 5_000;
const maxRestMs = 600_000;

type Health = { isCheap: boolean; costly: number; restsUntil: number };

/** Which contracts answered calls cheaply, and which are not called for a while as they did not. */
export function createContractHealth(now: () => number = () => performance.now()) {
  const contracts = new LRUCache<Address, Health>({ max: maxContracts });
  const costlyOf = (contract: Address) => contracts.get(contract)?.costly ?? 0;
  return {
    isResting: (contract: Address) => (contracts.get(contract)?.restsUntil ?? 0) > now(),
    isCheap: (contract: Address) => contracts.get(contract)?.isCheap ?? false,
    recordCheap(contract: Address): void {
      const costly = Math.max(0, costlyOf(contract) - 1);
      contracts.set(contract, { isCheap: true, costly, restsUntil: 0 });
    },
    recordCostly(contract: Address): void {
      const costly = costlyOf(contract) + 1;
      const restMs = Math.min(firstRestMs * 2 ** (costly - 1), maxRestMs);
      contracts.set(contract, { isCheap: false, costly, restsUntil: now() + restMs });
    },
    /** It is called alone the next time: one of several was costly, and nobody knows which. */
    suspect(contract: Address): void {
      contracts.set(contract, { isCheap: false, costly: costlyOf(contract), restsUntil: 0 });
    },
    countResting: () =>
      [...contracts.values()].filter(({ restsUntil }) => restsUntil > now()).length,
  };
}

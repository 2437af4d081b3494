import { LRUCache } from "lru-cache";
import type { Address } from "viem";

/** Contracts in memory; the least recently used is dropped first. */
const maxContracts = 10_000;
/** Time without calls after a costly answer: doubled each time, and halved by cheap answers. */
const initialMs = 5_000;
const maxMs = 600_000;

type Health = { isCheap: boolean; costly: number; coolDownUntil: number };

/** Which contracts answered calls cheaply, and which are not called for a while as they did not. */
export function createContractHealth(now: () => number = () => performance.now()) {
  const contracts = new LRUCache<Address, Health>({ max: maxContracts });
  const costlyOf = (contract: Address) => contracts.get(contract)?.costly ?? 0;
  return {
    isCoolingDown: (contract: Address) => (contracts.get(contract)?.coolDownUntil ?? 0) > now(),
    isCheap: (contract: Address) => contracts.get(contract)?.isCheap ?? false,
    recordCheap(contract: Address): void {
      const costly = Math.max(0, costlyOf(contract) - 1);
      contracts.set(contract, { isCheap: true, costly, coolDownUntil: 0 });
    },
    recordCostly(contract: Address): void {
      const costly = costlyOf(contract) + 1;
      const coolDownMs = Math.min(initialMs * 2 ** (costly - 1), maxMs);
      contracts.set(contract, { isCheap: false, costly, coolDownUntil: now() + coolDownMs });
    },
    /** It is called alone the next time: one of several was costly, and nobody knows which. */
    suspect(contract: Address): void {
      contracts.set(contract, { isCheap: false, costly: costlyOf(contract), coolDownUntil: 0 });
    },
    countCoolingDown: () =>
      [...contracts.values()].filter(({ coolDownUntil }) => coolDownUntil > now()).length,
  };
}

import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { Observation } from "#projections/log/append.ts";
import type { ChainReading, RecipientsPayload } from "#projections/log/readings.ts";
import { type ChainQuery, payersOfQuery } from "../chain/chain-query.ts";
import { createCooldowns } from "../runner/limits.ts";

/** Contracts in memory; the least recently changed is dropped first. */
const maxContracts = 10_000;
const hourMs = 3_600_000;
/** Time without calls after one change too many. */
const pause = {
  ...{ firstMs: 60_000, mostMs: hourMs },
  ...{ failuresUntilCooldown: 1, forgivenAfterMs: hourMs },
};

type Changes = {
  /** The last answer recorded. */
  answer: bigint | null;
  /** Of the last hour. */
  times: readonly number[];
};

/** Readings that contracts change without an event. */
const withoutEvents = [
  "signature_read",
  "transfer_read",
  "recipients_read",
] as const satisfies ChainReading["kind"][];
export type StateWithoutEvents = (typeof withoutEvents)[number];

/** Whose code gave the answer: of recipients that refuse the first, else any of them. */
function decidersOf(fact: Observation): readonly Address[] {
  const { kind, contract, fromAddress, toAddress, payload } = fact;
  const decider = { signature_read: fromAddress, transfer_read: contract }[kind as string];
  if (kind !== "recipients_read") return decider === undefined ? [] : [decider];
  return toAddress === undefined ? (payload as RecipientsPayload).recipients : [toAddress];
}

const unknown: Changes = { answer: null, times: [] };

/**
 * Contracts whose code changes its mind again and again, such as with every block: each change is a fact for every order
 * that depends on it, and facts are kept. After so many changes within an hour such a contract is asked again after a
 * minute, and after each further change later, up to an hour. An hour without a change forgives all.
 */
export function createChangingContracts(changesPerHour: number, now: () => number = Date.now) {
  const contracts = new LRUCache<Address, Changes>({ max: maxContracts });
  const pauses = createCooldowns<Address>({ now, ...pause });

  const recordChange = (contract: Address, answers: ReadonlySet<bigint>) => {
    const known = contracts.get(contract) ?? unknown;
    const [answer = null] = answers;
    // The orders of one change may be read in several rounds.
    if (answers.size === 1 && known.answer === answer) return;
    const at = now();
    const times = [...known.times.filter((time) => time > at - hourMs), at];
    contracts.set(contract, { answer, times });
    if (pauses.isFailing(contract) || times.length > changesPerHour) pauses.recordFailure(contract);
  };

  return {
    /** Whether a query is to be made: not of code that is left alone for now. */
    mayAsk(query: ChainQuery): boolean {
      if (!withoutEvents.some((kind) => kind === query.kind)) return true;
      return !payersOfQuery(query).some(pauses.isCoolingDown);
    },
    /** The readings of a round that differed from the log. */
    record(changed: readonly Observation[]): void {
      const answers = new Map<Address, Set<bigint>>();
      for (const fact of changed)
        for (const contract of decidersOf(fact))
          answers.set(contract, (answers.get(contract) ?? new Set()).add(fact.amount ?? 0n));
      for (const [contract, given] of answers) recordChange(contract, given);
    },
  };
}

export type ChangingContracts = ReturnType<typeof createChangingContracts>;

import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Observation } from "#projections/log/append.ts";
import type { MetadataTarget } from "#projections/metadata/read-due-metadata.ts";
import type { FetchCost } from "./document-fetcher.ts";
import type { UriResult } from "./fetch-uris.ts";

/** Documents of one contract that are fetched at the same time. */
const documentsAtOnce = 4;

/** Time that a contract's documents of one pass may take, added up: an allowance, and more for each that was fetched. */
const allowanceMs = 15_000;
const documentMs = 500;

/** A contract whose URI calls all fail, from so many on, is tried more rarely: they may cost the node all their gas. */
const failingCalls = 8;

/** Targets with their URIs, by contract. */
type ContractWork = {
  contractId: number;
  targets: { target: MetadataTarget; uri: UriResult }[];
};

/**
 * What a contract's documents of a pass have cost: time of requests, and bytes to store beyond ordinary documents; and
 * which of its budgets on the disk is used up.
 */
export type ContractCost = FetchCost & { bytes: number; over: "bulky" | "unpaid" | null };

/**
 * How a contract's pass ended: `costly` where answers were too large, too slow, missing, or all failures, `waiting` where
 * hosts of documents are left alone, `bulky` where documents add too much to the disk, `unpaid` where facts do that nobody
 * paid for one by one.
 */
export type PassResult = "served" | "costly" | "waiting" | "bulky" | "unpaid";

export function workByContract(
  targets: readonly MetadataTarget[],
  uris: readonly UriResult[],
): ContractWork[] {
  const works = new Map<number, ContractWork>();
  targets.forEach((target, index) => {
    const { contractId } = target;
    const work = works.get(contractId) ?? { contractId, targets: [] };
    works.set(contractId, work);
    work.targets.push({ target, uri: uris[index] });
  });
  return [...works.values()];
}

/** Runs `fetchOne` for a contract's targets, some at a time, until its time or a budget on the disk is used up. */
export async function fetchWithinBudget(
  { targets }: ContractWork,
  fetchOne: (target: MetadataTarget, uri: UriResult, cost: ContractCost) => Promise<boolean>,
): Promise<PassResult> {
  const cost: ContractCost = { ms: 0, isResting: false, bytes: 0, over: null };
  const left = targets.values();
  let done = 0;
  let isCostly = areFailing(targets);

  async function work(): Promise<void> {
    for (const { target, uri } of left) {
      if (cost.over !== null) return;
      if (cost.ms > allowanceMs + done * documentMs) {
        isCostly = true;
        return;
      }
      const isAnswered = await fetchOne(target, uri, cost);
      done += 1;
      if (isMissing(isAnswered, cost) || isTooLarge(uri)) isCostly = true;
    }
  }

  await Promise.all(Array.from({ length: documentsAtOnce }, work));
  const cheap = cost.isResting ? "waiting" : "served";
  return cost.over ?? (isCostly ? "costly" : cheap);
}

/** Whether no answer came though the hosts were asked. */
const isMissing = (isAnswered: boolean, { isResting }: ContractCost) => !(isAnswered || isResting);

const isTooLarge = (uri: UriResult): boolean =>
  uri !== undefined && "fault" in uri && uri.isTooLarge === true;

function areFailing(targets: ContractWork["targets"]): boolean {
  return (
    targets.length >= failingCalls &&
    targets.every(({ uri }) => uri !== undefined && "fault" in uri)
  );
}

/** Bytes in tables and indexes of a trait that no other token has, and how often a payload is stored. Measured. */
const newTraitBytes = 700;
const copies = 2;

/** What the document of an ordinary token may bring free of charge: a description, and values of its own. */
const freePayloadBytes = 4_096;
const freeTraits = 2;

/**
 * Bytes beyond ordinary documents that a pass may store of a contract, and of one that was ever traded. The first are
 * enough for the traits of an ordinary collection, about 370 values.
 */
export const untradedBytes = 256 * 1024;
export const tradedBytes = 24 * untradedBytes;

/** What of these bytes a contract may take a day for facts that nobody paid for. */
export const unpaidShare = 1 / 2;

/** Limit of remembered traits. Those forgotten count as new again. */
const maxTraits = 200_000;

/**
 * Bytes of a fact and of its token's row, beside the payload. Charged where nobody paid gas for the one fact: for a token
 * of a range, of which a transaction mints millions, and for every failure after the first.
 */
const unpaidFactBytes = 600;
const dayMs = 86_400_000;
/** What a paused contract has to regain of its daily bytes. */
const regainedShare = 1 / 8;

/** Limit of remembered contracts. */
const maxContracts = 10_000;

type Traits = { attributes?: readonly { trait_type: string; value: string | number }[] };

/**
 * Counts what fetched documents add to the disk: whoever lets us store more than a document of an ordinary token has to
 * wait. Traits are new when this process has not met them in the contract.
 */
export function createStorageMeter() {
  const known = new LRUCache<string, true>({ max: maxTraits });

  function isNew(key: string): boolean {
    const wasKnown = known.get(key) === true;
    if (!wasKnown) known.set(key, true);
    return !wasKnown;
  }

  return {
    /** Bytes beyond an ordinary document that the fact takes. */
    charge({ contractId }: MetadataTarget, { payload }: Observation): number {
      if (payload === undefined) return 0;
      const { attributes = [] } = payload as Traits;
      const keys = attributes.map(({ trait_type, value }) => keyOf(contractId, trait_type, value));
      const newTraits = keys.filter(isNew).length;
      const payloadBytes = Buffer.byteLength(JSON.stringify(payload));
      return (
        Math.max(0, newTraits - freeTraits) * newTraitBytes +
        Math.max(0, payloadBytes - freePayloadBytes) * copies
      );
    },
  };
}

/** Bytes of a fact that nobody paid for; 0: somebody did. */
export function unpaidBytes(
  { isOfRange, isUnpaid, attempt }: MetadataTarget,
  { payload }: Observation,
): number {
  // Of one event for many tokens, or many for one, each fact is charged, also that nothing changed.
  if (isUnpaid) return unpaidFactBytes + Buffer.byteLength(JSON.stringify(payload ?? ""));
  const isRepeatedFailure = attempt > 0 && (payload as { error?: string } | undefined)?.error;
  if (payload === undefined || !(isOfRange || isRepeatedFailure)) return 0;
  return unpaidFactBytes + Buffer.byteLength(JSON.stringify(payload));
}

type Owed = { bytes: number; atMs: number; pausedUntilMs: number };

/** Bytes that each contract may take unpaid: so many at once, and again within each day. */
export function createUnpaidBudget(now: () => number) {
  const owed = new LRUCache<number, Owed>({ max: maxContracts });

  return {
    /** Returns whether the contract is over its budget, and paused from now on. */
    charge(contractId: number, bytes: number, dailyBytes: number): boolean {
      if (bytes === 0) return false;
      const before = owed.get(contractId) ?? { bytes: 0, atMs: now(), pausedUntilMs: 0 };
      const repaid = ((now() - before.atMs) / dayMs) * dailyBytes;
      const after = Math.max(0, before.bytes - repaid) + bytes;
      const isOver = after > dailyBytes;
      const tooMany = after - dailyBytes * (1 - regainedShare);
      const pausedUntilMs = isOver ? now() + (tooMany / dailyBytes) * dayMs : 0;
      owed.set(contractId, { bytes: after, atMs: now(), pausedUntilMs });
      return isOver;
    },
    paused: (): number[] =>
      [...owed].flatMap(([contractId, { pausedUntilMs }]) =>
        pausedUntilMs > now() ? [contractId] : [],
      ),
  };
}

export type UnpaidBudget = ReturnType<typeof createUnpaidBudget>;

export type StorageMeter = ReturnType<typeof createStorageMeter>;

/** A hash, as long traits would fill the memory. */
function keyOf(contractId: number, type: string, value: string | number): string {
  const hash = createHash("sha1")
    .update(JSON.stringify([type, value]))
    .digest("base64");
  return `${contractId} ${hash.slice(0, 12)}`;
}

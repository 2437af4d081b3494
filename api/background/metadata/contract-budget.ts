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
export type ContractWork = {
  contractId: number;
  targets: { target: MetadataTarget; uri: UriResult }[];
};

/**
 * What a contract's documents of a pass have cost: time of requests, and bytes to store beyond ordinary documents; and
 * which of its budgets on the disk is used up.
 */
export type ContractCost = FetchCost & { bytes: number; over: "bulky" | "unpaid" | null };

/**
 * How a contract's pass ended: `costly` where answers were too large, too slow, missing, or all failures, `bulky` where
 * documents add too much to the disk, `unpaid` where facts do that nobody paid for one by one.
 */
export type PassResult = "served" | "costly" | "bulky" | "unpaid";

export function byContract(
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
  const cost: ContractCost = { ms: 0, bytes: 0, over: null };
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
      if (!isAnswered || isTooLarge(uri)) isCostly = true;
    }
  }

  await Promise.all(Array.from({ length: documentsAtOnce }, work));
  return cost.over ?? (isCostly ? "costly" : "served");
}

const isTooLarge = (uri: UriResult): boolean =>
  uri !== undefined && "fault" in uri && uri.isTooLarge === true;

function areFailing(targets: ContractWork["targets"]): boolean {
  return (
    targets.length >= failingCalls &&
    targets.every(({ uri }) => uri !== undefined && "fault" in uri)
  );
}

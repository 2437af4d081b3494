import type { Address } from "viem";
import { conduitController, ensRegistry, multicall3, seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import type { ChainClient } from "./client.ts";
import type { ChainCall, ChainCallOutcome, ReadBasis } from "./contract-calls.ts";
import {
  type BatchCost,
  type BatchOptions,
  executeBatch,
  isSlowerThanNode,
  requestInTime,
} from "./execute-batch.ts";

/** Calls of a contract that is not known to be cheap, before it is known what they cost. */
const firstCalls = 8;
/** Contracts that are called at the same time. */
const maxConcurrentContracts = 6;
/** A contract whose calls take longer on a quick node is not known to be cheap: it is called alone. */
const slowMs = 500;

/** Deployed code that everybody knows: its calls never wait for others. */
const commonContracts: ReadonlySet<Address> = new Set([
  seaportAddresses["1.6"],
  conduitController,
  multicall3,
  ensRegistry,
  ...Object.values(wrappedNative),
]);

export const isCommonContract = (contract: Address): boolean => commonContracts.has(contract);

/** The contract whose code decides what a call costs; null: code that everybody knows, or none. */
function payerOf(call: ChainCall): Address | null {
  if ("codeOf" in call) return null;
  const payer = call.payer ?? call.to;
  return isCommonContract(payer) ? null : payer;
}

/** Indexes of the calls that each contract pays for, which share requests. */
type PayerCalls = Map<Address, number[]>;

/** Calls of several askers were costly together: each asker is to make its own, so that none pays for another. */
export class CostlyTogether extends Error {
  override name = "CostlyTogether";
}

/**
 * `asker`: who named what is called, or what was named, where that decides what calls cost: only its own calls of a costly
 * contract rest. Without one the contract rests for all. `areShared`: the calls are of several askers; costly ones are
 * given up with `CostlyTogether`.
 */
export type ExecutionOptions = Pick<BatchOptions, "tooLarge"> & {
  asker?: string;
  areShared?: boolean;
};

/**
 * Makes calls at one block. Common contracts, contracts that answered cheaply before, and each other contract have
 * requests of their own, so that none waits for another. A contract that is late or uses up its gas is not called again
 * for a while: without a result, as if the node had none.
 */
export async function executeCalls(
  client: ChainClient,
  basis: ReadBasis,
  calls: readonly ChainCall[],
  { asker, areShared = false, ...options }: ExecutionOptions = {},
): Promise<ChainCallOutcome[]> {
  const outcomes: ChainCallOutcome[] = calls.map(() => undefined);
  const run = async (indexes: readonly number[], batch: BatchOptions) => {
    const members = indexes.flatMap((index) => calls[index] ?? []);
    const found = await executeBatch(client, basis, members, { ...options, ...batch });
    indexes.forEach((index, place) => {
      outcomes[index] = found.outcomes[place] ?? outcomes[index];
    });
    recordWithoutCode(client, members, found.outcomes);
    return found.cost;
  };
  const { common, cheap, unknown } = groupByPayer(client, calls, asker);
  if (areShared && unknown.size > 0) throw new CostlyTogether("not all contracts are cheap");
  const runAlone = (group: PayerCalls) => runEachAlone(client, basis, group, { run, asker });
  await Promise.all([
    ...(common.length > 0 ? [run(common, {})] : []),
    runTogether(client, basis, cheap, run).then((again) => {
      if (areShared && again.size > 0) throw new CostlyTogether("a contract was costly");
      return runAlone(again);
    }),
    runAlone(unknown),
  ]);
  return outcomes;
}

/** An account without code costs nothing. */
function recordWithoutCode(
  { health }: ChainClient,
  calls: readonly ChainCall[],
  outcomes: readonly ChainCallOutcome[],
): void {
  calls.forEach((call, index) => {
    const outcome = outcomes[index];
    if (!("codeOf" in call) || outcome === undefined || !("returned" in outcome)) return;
    if (outcome.returned === "0x") health.recordCheap(call.codeOf);
  });
}

function groupByPayer(
  { health }: ChainClient,
  calls: readonly ChainCall[],
  asker: string | undefined,
) {
  const common: number[] = [];
  const cheap: PayerCalls = new Map();
  const unknown: PayerCalls = new Map();
  calls.forEach((call, index) => {
    const payer = payerOf(call);
    if (payer === null) common.push(index);
    else if (!health.isCoolingDown(payer, asker)) {
      const group = health.isCheap(payer) ? cheap : unknown;
      const indexes = group.get(payer);
      if (indexes === undefined) group.set(payer, [index]);
      else indexes.push(index);
    }
  });
  return { common, cheap, unknown };
}

type Run = (indexes: readonly number[], batch: BatchOptions) => Promise<BatchCost>;

/** Returns the calls if any was costly: nobody knows of which contract, so each is called again alone. */
async function runTogether(
  client: ChainClient,
  basis: ReadBasis,
  calls: PayerCalls,
  run: Run,
): Promise<PayerCalls> {
  if (calls.size === 0) return calls;
  const indexes = [...calls.values()].flat();
  const cost = await costOf(client, basis, () => run(indexes, { request: requestInTime }));
  if (cost !== "cheap") for (const contract of calls.keys()) client.health.suspect(contract);
  return cost === "cheap" ? new Map() : calls;
}

async function runEachAlone(
  client: ChainClient,
  basis: ReadBasis,
  calls: PayerCalls,
  { run, asker }: { run: Run; asker: string | undefined },
): Promise<void> {
  const { health } = client;
  const open = [...calls];
  const worker = async () => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const [contract, indexes] = next;
      const alone = { firstCalls, repeats: true, request: requestInTime };
      const cost = await costOf(client, basis, () => run(indexes, alone));
      if (cost === "late" || cost === "out-of-gas") health.recordCostly(contract, asker);
      else if (cost === "expensive") health.suspect(contract);
      else health.recordCheap(contract, asker);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrentContracts }, worker));
}

/** What a batch costs: one that takes long on a quick node is expensive, however little gas its calls use. */
async function costOf(
  client: ChainClient,
  basis: ReadBasis,
  run: () => Promise<BatchCost>,
): Promise<BatchCost> {
  const startedAt = performance.now();
  const cost = await run();
  const ms = performance.now() - startedAt;
  if (cost !== "cheap" || ms <= slowMs) return cost;
  return (await isSlowerThanNode(client, basis, ms)) ? "expensive" : cost;
}

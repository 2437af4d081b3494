import { keccak256, stringToHex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { Observation } from "#projections/log/append.ts";
import { type ChainBlock, compareBlocks, type Difference, readLoggedBlocks, repairBlocks } from "#projections/log/audit.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { BlockReader } from "#api/background/chain-reader/read-blocks.ts";
import type { BlockRange } from "#api/background/chain-reader/read-range.ts";
import { type ChainEvent, fetchMissing } from "./chain-events.ts";

/** The chain, as what the log is held against. */
export type ChainTruth = {
  /** The blocks at these heights; null where there is none. */
  hashesAt(numbers: readonly number[]): Promise<ReadonlyMap<number, string | null>>;
  /** Log indexes of all logs of a block, of any contract. */
  logIndexesOf(block: Pick<ChainBlock, "number" | "hash">): Promise<readonly number[]>;
};

type CompareOptions = {
  db: Database;
  /** What is read once more of what the log lacks: its transactions' calls and transfers. */
  client: ChainClient;
  blocks: Pick<BlockReader, "byNumbers">;
  truth: ChainTruth;
  range: BlockRange;
  /** The events of the range that are facts. */
  events: readonly ChainEvent[];
  /** Differences that are mended. */
  mends: (difference: Difference) => boolean;
};

export type Comparison = {
  /** Blocks and events of the chain that were compared. */
  blocks: number;
  events: number;
  differences: Difference[];
  /** Differences after the repair. */
  left: number;
};

/** Compares the log with a range of a chain, and repairs it where that is asked for. */
export async function compareRange(options: CompareOptions): Promise<Comparison> {
  const blocks = blocksOf(options.events);
  const differences = await compare(options, blocks);
  const counted = { blocks: blocks.length, events: options.events.length, differences };
  // What the chain lacks stays in the log, for an operator.
  const due = differences.filter((one) => one.kind !== "surplus" && options.mends(one));
  if (due.length === 0) return { ...counted, left: differences.length };
  await repair(options, due);
  return { ...counted, left: (await compare(options, blocks)).length };
}

function blocksOf(events: readonly ChainEvent[]): ChainBlock[] {
  const blocks = new Map<string, ChainBlock & { logIndexes: number[] }>();
  for (const { blockNumber: number, blockHash: hash, logIndex } of events) {
    const block = blocks.get(hash) ?? { number, hash, logIndexes: [] };
    block.logIndexes.push(logIndex);
    blocks.set(hash, block);
  }
  return [...blocks.values()];
}

async function compare(
  { db, client, truth, range }: CompareOptions,
  onChain: readonly ChainBlock[],
): Promise<Difference[]> {
  const logged = await readLoggedBlocks(db, client.chainId, range);
  const known = new Map<number, string | null>(onChain.map(({ number, hash }) => [number, hash]));
  const unknown = logged.map(({ number }) => number).filter((number) => !known.has(number));
  for (const [number, hash] of await truth.hashesAt([...new Set(unknown)])) known.set(number, hash);
  const differences: Difference[] = [];
  for (const one of compareBlocks(logged, onChain, known)) {
    const logIndexes = one.kind === "surplus" ? await findUnknownLogs(truth, one) : one.logIndexes;
    if (logIndexes.length > 0) differences.push({ ...one, logIndexes });
  }
  return differences;
}

/** Recorded events without a log in the block. Others may be there because an earlier configuration indexed more. */
async function findUnknownLogs(truth: ChainTruth, surplus: Difference): Promise<number[]> {
  const onChain = new Set(await truth.logIndexesOf(surplus));
  return surplus.logIndexes.filter((logIndex) => !onChain.has(logIndex));
}

async function repair(
  { db, client, blocks, range, events }: CompareOptions,
  differences: readonly Difference[],
): Promise<void> {
  const logged = await readLoggedBlocks(db, client.chainId, range);
  const idsOf = (kind: Difference["kind"]) => {
    const hashes = new Set(differences.filter((one) => one.kind === kind).map(({ hash }) => hash));
    return logged.filter(({ hash }) => hashes.has(hash)).map(({ blockId }) => blockId);
  };
  const missingKeys = new Set(
    differences
      .filter(({ kind }) => kind === "missing")
      .flatMap(({ hash, logIndexes }) => logIndexes.map((logIndex) => `${hash} ${logIndex}`)),
  );
  const missing = events.filter((one) => missingKeys.has(`${one.blockHash} ${one.logIndex}`));
  const repairs = {
    ...{ wrong: idsOf("wrong_block"), dropped: idsOf("dropped_block") },
    ...(await fetchMissing(db, { client, blocks }, missing)),
  };
  const at = new Date();
  await repairBlocks(db, repairs, at, repairFact(client.chainId, { range, differences }, at));
}

/** Blocks that a fact of a repair names; all are counted. */
const namedBlocks = 100;

/** Says what was mended, so that what an answer was made of can be told later. */
function repairFact(
  chainId: number,
  { range, differences }: { range: BlockRange; differences: readonly Difference[] },
  at: Date,
): Observation {
  const events = (kind: Difference["kind"]) =>
    differences.reduce((sum, one) => sum + (one.kind === kind ? one.logIndexes.length : 0), 0);
  const payload = {
    ...range,
    appended: events("missing"),
    retracted: events("wrong_block"),
    readopted: events("dropped_block"),
    blocks: differences.slice(0, namedBlocks).map(({ number }) => number),
  };
  const identity = keccak256(stringToHex(JSON.stringify([chainId, at, differences])));
  return { kind: "history_repaired", chainId, identity, recordedAt: at, payload };
}

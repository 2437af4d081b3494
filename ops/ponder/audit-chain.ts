import { type Hex, keccak256, stringToHex } from "viem";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import type { Observation } from "#projections/log/append.ts";
import {
  type ChainBlock,
  compareBlocks,
  type Difference,
  readLoggedBlocks,
  readSettledNumber,
  repairBlocks,
} from "#projections/log/audit.ts";
import { forgetHistoryProof } from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import { readIndexerProgress } from "#projections/log/progress.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import type { ChainConfig } from "../config/config.ts";
import { type ChainReader, withChainReader } from "../reader/chain-reader.ts";
import type { BlockReader } from "../reader/read-blocks.ts";
import type { BlockRange } from "../reader/read-range.ts";
import { type ChainEvent, fetchMissing, openResumePoint, walkEvents } from "./chain-events.ts";
import { sourceFilters } from "./indexed-sources.ts";
import type { Indexer } from "./indexers.ts";

type Range = { from: number; to: number };

export type AuditedIndexer = Pick<Indexer, "name" | "recorded">;

export type AuditOptions = {
  db: Database;
  chain: ChainConfig;
  indexers: readonly AuditedIndexer[];
  /** A bound that is absent: the first indexed block, or the last final one. */
  range: Partial<Range>;
  repair: boolean;
  onProgress: (done: Range & { until: number }) => void;
};

export type Audit = Range & {
  chainId: number;
  /** Blocks and events of the chain that were compared. */
  blocks: number;
  events: number;
  /** Differences found, and those left after the repair. */
  found: number;
  left: number;
  /** The first differences. */
  differences: Difference[];
  /** Indexers that were left out, as they are catching up. */
  catchingUp: string[];
};

/** Differences that are listed; all are counted. */
const maxListedDifferences = 1_000;

/**
 * Compares the log with the chain's own logs, range by range, and repairs it on request. Only blocks that are final on
 * the chain and recorded from the indexer are compared. An interrupted audit continues where it stopped.
 */
export function auditChain(options: AuditOptions): Promise<Audit> {
  return withChainReader(options.chain, (reader) => runAudit(options, reader));
}

async function runAudit(options: AuditOptions, reader: ChainReader): Promise<Audit> {
  const { db, chain, indexers, onProgress } = options;
  const resumePoint = openResumePoint<AuditState>(db, chain.chainId, commandOf(options));
  let audit = (await resumePoint.read()) ?? {
    ...(await startAudit(options, reader)),
    next: null,
  };
  const left = indexers.filter(({ name }) => !audit.catchingUp.includes(name));
  const filters = sourceFilters(left.flatMap(({ recorded }) => recorded.sources));
  const { blocks } = reader;
  const read = { db, client: openChainClient(chain), blocks, truth: truthOf(blocks) };
  const walk = { from: audit.next ?? audit.from, to: audit.to, width: chain.logsBlockRange };
  for await (const { range, events } of walkEvents(reader, filters, walk)) {
    const compared = await compareRange({ ...read, range, events, mends: () => options.repair });
    audit = { ...addCompared(audit, compared), next: range.to + 1 };
    await resumePoint.save(audit);
    onProgress({ ...range, until: audit.to });
  }
  await resumePoint.clear();
  // What it could not mend may be mended now.
  if (options.repair) await forgetHistoryProof(db, chain.chainId);
  const { next: _, ...result } = audit;
  return result;
}

async function startAudit(
  { db, chain, indexers, range }: AuditOptions,
  reader: ChainReader,
): Promise<Audit> {
  const head = Number((await reader.heads.first).number);
  const settled = await Promise.all(indexers.map((one) => readSettled(db, chain.chainId, one)));
  const last = Math.min(range.to ?? head, head - chain.finalityBlocks);
  const compared = settled.filter(({ follows, number }) => follows || number >= last);
  const firstBlocks = compared.flatMap(({ indexer }) =>
    indexer.recorded.sources.map(({ firstBlock }) => firstBlock),
  );
  return {
    chainId: chain.chainId,
    from: range.from ?? Math.min(...firstBlocks),
    to: Math.min(last, ...compared.map(({ number }) => number)),
    blocks: 0,
    events: 0,
    found: 0,
    left: 0,
    differences: [],
    catchingUp: settled.filter((one) => !compared.includes(one)).map(({ indexer }) => indexer.name),
  };
}

/** Height up to which an indexer's events are in the log, and whether it follows new blocks. */
export async function readSettled(db: Database, chainId: number, indexer: AuditedIndexer) {
  const id = { chainId, indexer: indexer.name };
  const progress = await readIndexerProgress(db, id);
  const follows = indexer.name === coreIndexer || progress?.isCaughtUp === true;
  return { indexer, follows, number: await readSettledNumber(db, chainId, indexer.name) };
}

function truthOf(blocks: BlockReader): ChainTruth {
  return {
    async hashesAt(numbers) {
      const headers = await blocks.byNumbers(numbers);
      return new Map(headers.map(({ number, hash }) => [Number(number), hash.toLowerCase()]));
    },
    async logIndexesOf({ number, hash }) {
      const block = await blocks.byHash({ number, hash: hash as Hex }, false);
      return (await blocks.logsOf(block)).map(({ logIndex }) => Number(logIndex));
    },
  };
}

function addCompared(audit: Audit, { blocks, events, differences, left }: Comparison): Audit {
  return {
    ...audit,
    blocks: audit.blocks + blocks,
    events: audit.events + events,
    found: audit.found + differences.length,
    left: audit.left + left.length,
    differences: [...audit.differences, ...differences].slice(0, maxListedDifferences),
  };
}

type AuditState = Audit & { next: number | null };

const commandOf = ({ range, repair }: AuditOptions): string =>
  `${range.from ?? ""}..${range.to ?? ""}${repair ? " repair" : ""}`;

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

type Comparison = {
  /** Blocks and events of the chain that were compared. */
  blocks: number;
  events: number;
  differences: Difference[];
  /** Differences after the repair. */
  left: Difference[];
};

/** Compares the log with a range of a chain, and repairs it where that is asked for. */
export async function compareRange(options: CompareOptions): Promise<Comparison> {
  const blocks = blocksOf(options.events);
  const differences = await compare(options, blocks);
  const counted = { blocks: blocks.length, events: options.events.length, differences };
  // What the chain lacks stays in the log, for an operator.
  const due = differences.filter((one) => one.kind !== "surplus" && options.mends(one));
  if (due.length === 0) return { ...counted, left: differences };
  await repair(options, due);
  return { ...counted, left: await compare(options, blocks) };
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

import type { Logger } from "pino";
import type { Hex } from "viem";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import type { ChainLog } from "#jobs/chain/fetch-logs.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import type { Job } from "#jobs/runner/job.ts";
import { runConcurrently } from "#projections/engine/run-concurrently.ts";
import type { Difference } from "#projections/log/audit.ts";
import {
  type HistoryProof,
  readHistoryProof,
  storeHistoryProof,
} from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainConfig } from "../config/config.ts";
import type { RpcBlock } from "../reader/block-proof.ts";
import type { ChainReader } from "../reader/chain-reader.ts";
import type { BlockRange } from "../reader/read-range.ts";
import { type AuditedIndexer, type ChainTruth, compareRange, readSettled } from "./audit-chain.ts";
import { chainEventsOf, chainLogOf } from "./chain-events.ts";
import { type SourceFilter, sourceFilters } from "./indexed-sources.ts";
import { isChainOfLog } from "./same-chain.ts";

type HistoryOptions = {
  db: Database;
  chain: ChainConfig;
  reader: ChainReader;
  readIndexers: () => Promise<readonly AuditedIndexer[]>;
  logger: Logger;
};

/** Blocks of one step. */
const stepBlocks = 64;
/** The part of the time that it works: nodes and processor are there for what happens now. */
const workingShare = 1 / 10;
const pauseMs = { least: 50, most: 60_000, idle: 2_000, again: 5_000, failed: 5_000 };
/** Times in a row that blocks do not join those that are proved, before the proof begins anew. */
const mostBreaks = 5;

/**
 * Proves the recorded history for as long as the service runs: from the newest final block down, each block by its header,
 * which its child names, and its logs by what the header commits to. Beside it blocks further below are drawn at random;
 * what is around one that differs is read at once. What the log lacks is appended, with a fact that says so.
 */
export function historyProof(options: HistoryOptions): Job {
  const { chain } = options;
  const work = { ...options, client: openChainClient(chain) };
  let breaks = 0;
  return {
    name: "history proof",
    about: { chainId: chain.chainId },
    retry: { firstMs: pauseMs.failed, mostMs: pauseMs.failed },
    async run() {
      const startedAt = performance.now();
      try {
        const step = await proveNext(work, breaks >= mostBreaks);
        breaks = 0;
        return pauseAfter(step, performance.now() - startedAt);
      } catch (error) {
        breaks = error instanceof NotJoined ? breaks + 1 : 0;
        throw error;
      }
    },
  };
}

type Step = { isIdle: boolean; mended: number; left: number };

/** A history that lacks something is mended without a pause. */
function pauseAfter(step: Step, workedMs: number): number {
  if (step.isIdle) return step.left > 0 ? pauseMs.again : pauseMs.idle;
  if (step.mended > 0) return pauseMs.least;
  return Math.min(Math.max(workedMs * (1 / workingShare - 1), pauseMs.least), pauseMs.most);
}

/** Blocks that are not those which what is proved leads to. */
class NotJoined extends RpcFailure {}

const nothing: Step = { isIdle: true, mended: 0, left: 0 };

type Proving = HistoryOptions & Pick<BlocksWork, "client">;

async function proveNext(options: Proving, isAnew: boolean): Promise<Step> {
  const { db, chain, reader } = options;
  const { chainId } = chain;
  const bounds = await readBounds(options);
  if (bounds === null || bounds.last < bounds.first) return nothing;
  const { work, first, last, sources } = bounds;
  const stored = isAnew ? null : await readHistoryProof(db, chainId);
  const proof = stored?.sources === sources ? stored : null;
  // What is proved leads on to the chain's own blocks; where nothing is, any chain of this id would be taken for it.
  if (proof === null && !(await isChainOfLog(db, reader)))
    throw new RpcFailure(
      "none of the log's oldest blocks is on the chain: nothing of it is proved",
    );
  const range = nextRange(proof, { first, last });
  if (range === null) return proof === null ? nothing : compareAgain(options, work, proof);
  const proved = await readProvedBlocks(work, range);
  await expectJoined(reader, proof, proved);
  const { found, left } = await mendBlocks(work, proved, { mayRetract: true });
  const below = { from: first, to: (proof?.provedFrom ?? first) - stepBlocks };
  const sample = await proveSample(work, below);
  const mended = found - left.length + sample.mended;
  const evidence = reader.blocks.evidence();
  const next = { ...extend(proof, proved), chainId, sources, evidence, firstNumber: first };
  await storeHistoryProof(db, {
    ...withMended(next, mended),
    sampled: next.sampled + sample.blocks,
    differing: namedBlocks([...next.differing, ...left.map(({ number }) => number)]),
  });
  if (mended + left.length > 0)
    options.logger.warn({ chainId, mended, left: left.length }, "log differed from the chain");
  return { isIdle: false, mended, left: left.length };
}

/** Blocks that differ are named up to this many; an operator acts long before. */
const mostNamed = 1_000;
const namedBlocks = (numbers: readonly number[]) => [...new Set(numbers)].slice(0, mostNamed);

/** The next of the blocks that differed: something else may have mended it since. */
async function compareAgain(
  { db }: HistoryOptions,
  work: BlocksWork,
  proof: HistoryProof,
): Promise<Step> {
  const [number, ...others] = proof.differing;
  if (number === undefined) return nothing;
  const proved = await readProvedBlocks(work, { from: number, to: number });
  const { found, left } = await mendBlocks(work, proved, { mayRetract: false });
  const mended = found - left.length;
  const differing = left.length > 0 ? [...others, number] : others;
  await storeHistoryProof(db, { ...withMended(proof, mended), differing });
  return { isIdle: true, mended, left: differing.length };
}

const withMended = (proof: HistoryProof, mended: number): HistoryProof =>
  mended === 0 ? proof : { ...proof, repaired: proof.repaired + mended, repairedAt: new Date() };

/** What can be proved now: what is final on the chain, and recorded from all indexers that follow it. */
async function readBounds({ db, chain, reader, client, readIndexers }: Proving) {
  const head = Number(reader.heads.head()?.number ?? -1);
  const indexers = await readIndexers();
  const settled = await Promise.all(indexers.map((one) => readSettled(db, chain.chainId, one)));
  const compared = settled.filter(({ follows }) => follows);
  const recorded = compared.flatMap(({ indexer }) => indexer.recorded.sources);
  if (recorded.length === 0) return null;
  const filters = sourceFilters(recorded);
  const work: BlocksWork = { db, reader, client, filters };
  return {
    work,
    sources: namesOf(compared.map(({ indexer }) => indexer)),
    first: Math.min(...recorded.map(({ firstBlock }) => firstBlock)),
    last: Math.min(head - chain.finalityBlocks, ...compared.map(({ number }) => number)),
  };
}

const namesOf = (indexers: readonly AuditedIndexer[]): string =>
  indexers
    .map(({ name }) => name)
    .toSorted()
    .join(" ");

/** New final blocks once there are enough of them, else the next ones below. */
function nextRange(
  proof: HistoryProof | null,
  { first, last }: { first: number; last: number },
): BlockRange | null {
  if (proof === null) return { from: Math.max(first, last - stepBlocks + 1), to: last };
  const { provedFrom, provedTo } = proof;
  const isWhole = provedFrom <= first;
  if (last - provedTo >= stepBlocks || (isWhole && last > provedTo)) {
    return { from: provedTo + 1, to: Math.min(last, provedTo + stepBlocks) };
  }
  return isWhole ? null : { from: Math.max(first, provedFrom - stepBlocks), to: provedFrom - 1 };
}

/** The most blocks up to the head that are read, to see that the head comes of what is proved. */
const mostToHead = 1_024;

/** Throws `NotJoined` unless the blocks lead to what is proved, and new ones to the head. */
async function expectJoined(
  reader: ChainReader,
  proof: HistoryProof | null,
  { range, parentHash, headHash }: ProvedBlocks,
): Promise<void> {
  const isAbove = proof === null || range.from > proof.provedTo;
  const isJoined =
    proof === null || (isAbove ? parentHash === proof.headHash : headHash === proof.parentHash);
  const head = reader.heads.head();
  let leadsOn = true;
  if (isJoined && isAbove && head !== null && Number(head.number) - range.to <= mostToHead) {
    const chain = await readChain(reader, { from: range.to, to: Number(head.number) });
    leadsOn =
      chain[0]?.hash.toLowerCase() === headHash &&
      chain.at(-1)?.hash.toLowerCase() === head.hash.toLowerCase();
  }
  if (isJoined && leadsOn) return;
  throw new NotJoined(`blocks ${range.from} to ${range.to} do not join those that are proved`);
}

type Reached = Omit<HistoryProof, "chainId" | "sources" | "firstNumber" | "evidence">;

function extend(proof: HistoryProof | null, proved: ProvedBlocks): Reached {
  const { range, parentHash, headHash } = proved;
  if (proof === null) {
    const counted = { sampled: 0, repaired: 0, differing: [], repairedAt: null };
    return { ...counted, provedFrom: range.from, provedTo: range.to, parentHash, headHash };
  }
  return range.from > proof.provedTo
    ? { ...proof, provedTo: range.to, headHash }
    : { ...proof, provedFrom: range.from, parentHash };
}

/**
 * One block of a range, and where it lacks events what is around it, as far as that does too. No child that is proved
 * names these blocks: what the log has of others at their heights is left.
 */
async function proveSample(work: BlocksWork, { from, to }: BlockRange) {
  if (to < from) return { blocks: 0, mended: 0 };
  const mend = async (range: BlockRange) => {
    const proved = await readProvedBlocks(work, range);
    const { found, left } = await mendBlocks(work, proved, { mayRetract: false });
    return found - left.length;
  };
  const number = from + Math.floor(Math.random() * (to - from + 1));
  let mended = await mend({ from: number, to: number });
  if (mended === 0) return { blocks: 1, mended };
  for (let last = number - 1, part = 1; part > 0 && last >= from; last -= stepBlocks) {
    part = await mend({ from: Math.max(from, last - stepBlocks + 1), to: last });
    mended += part;
  }
  for (let first = number + 1, part = 1; part > 0 && first <= to; first += stepBlocks) {
    part = await mend({ from: first, to: Math.min(to, first + stepBlocks - 1) });
    mended += part;
  }
  return { blocks: 1, mended };
}

type BlocksWork = {
  db: Database;
  reader: Pick<ChainReader, "blocks">;
  client: ChainClient;
  filters: readonly SourceFilter[];
};

/** Blocks in a row, each the parent of the next, and all of their logs that the indexed sources may have. */
type ProvedBlocks = {
  readonly range: BlockRange;
  /** Of the lowest block, and of the highest. */
  readonly parentHash: Hex;
  readonly headHash: Hex;
  readonly blocks: readonly RpcBlock[];
  readonly logs: readonly ChainLog[];
};

/** Where the log differed from the chain, and where it still does. */
type Mended = { found: number; left: Difference[] };

/** Blocks whose logs are read at a time. */
const concurrentBlocks = 4;

/** Reads the blocks of a range with their proofs. Throws `RpcFailure` when no node's answers can be proved. */
async function readProvedBlocks(
  work: Pick<BlocksWork, "reader" | "filters">,
  range: BlockRange,
): Promise<ProvedBlocks> {
  const blocks = await readChain(work.reader, range);
  const [lowest, highest] = [blocks[0], blocks.at(-1)];
  if (lowest === undefined || highest === undefined)
    throw new Error("the chain answered no blocks of a range");
  return {
    range,
    parentHash: lowest.parentHash.toLowerCase() as Hex,
    headHash: highest.hash.toLowerCase() as Hex,
    blocks,
    logs: await readLogs(work, blocks),
  };
}

/** Headers of a range, each the parent of the next one. */
async function readChain(
  reader: BlocksWork["reader"],
  { from, to }: BlockRange,
): Promise<RpcBlock[]> {
  const blocks = await reader.blocks.byNumbers(
    Array.from({ length: to - from + 1 }, (_, nth) => from + nth),
  );
  expectChain(blocks);
  return blocks;
}

/**
 * Holds the log against proved blocks, and appends what it lacks. `mayRetract`: they are known to be the chain's; else a
 * difference over which block is the chain's is left.
 */
async function mendBlocks(
  { db, client, filters, reader }: BlocksWork,
  { range, blocks, logs }: ProvedBlocks,
  { mayRetract }: { mayRetract: boolean },
): Promise<Mended> {
  const events = filters.flatMap((filter) =>
    chainEventsOf(filter, logs.filter(selectorOf(filter))),
  );
  const truth = truthOf(reader, blocks);
  const comparison = { db, client, blocks: reader.blocks, truth, range, events };
  const { differences, left } = await compareRange({
    ...comparison,
    mends: ({ kind }) => mayRetract || kind === "missing",
  });
  return { found: differences.length, left };
}

function expectChain(blocks: readonly RpcBlock[]): void {
  blocks.forEach((block, nth) => {
    const parent = blocks[nth - 1];
    if (parent === undefined || parent.hash.toLowerCase() === block.parentHash.toLowerCase())
      return;
    throw new RpcFailure(`block ${Number(parent.number)} is not the parent of the next one`);
  });
}

/** All logs of the blocks that may hold an event. */
async function readLogs(
  { filters, reader }: Pick<BlocksWork, "reader" | "filters">,
  blocks: readonly RpcBlock[],
): Promise<ChainLog[]> {
  const open = blocks.filter((block) =>
    filters.some(({ addresses, topics }) =>
      reader.blocks.mayHold(block, { address: addresses ?? undefined, topics }),
    ),
  );
  const logs: ChainLog[] = [];
  const read = async (block: RpcBlock) => {
    logs.push(...(await reader.blocks.logsOf(block)).map(chainLogOf));
  };
  await runConcurrently(open, read, undefined, concurrentBlocks);
  return logs;
}

/** As a node selects by a filter: of each topic that it names, the log has that value; of null any. */
function selectorOf({ addresses, topics, source }: SourceFilter): (log: ChainLog) => boolean {
  const contracts = addresses && new Set(addresses.map((address) => address.toLowerCase()));
  const values = topics.map((topic) => topic?.toLowerCase());
  return (log) =>
    log.blockNumber >= source.firstBlock &&
    (contracts === null || contracts.has(log.address)) &&
    log.topics.length >= values.length &&
    values.every((value, nth) => value === undefined || value === log.topics[nth]);
}

function truthOf({ blocks: read }: BlocksWork["reader"], blocks: readonly RpcBlock[]): ChainTruth {
  const byNumber = new Map(blocks.map((block) => [Number(block.number), block]));
  return {
    hashesAt: async (numbers) =>
      new Map(numbers.map((number) => [number, byNumber.get(number)?.hash ?? null])),
    async logIndexesOf({ number }) {
      const block = byNumber.get(number);
      if (block === undefined) return [];
      return (await read.logsOf(block)).map(({ logIndex }) => Number(logIndex));
    },
  };
}

import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { type Difference, readSettledNumber } from "#projections/log/audit.ts";
import { forgetHistoryProof } from "#projections/log/chain-state.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import { readIndexerProgress } from "#projections/log/progress.ts";
import { openChainClient } from "#jobs/chain/client.ts";
import { type ChainReader, withChainReader } from "#api/background/chain-reader/chain-reader.ts";
import type { BlockReader } from "#api/background/chain-reader/read-blocks.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { type ChainTruth, type Comparison, compareRange } from "./compare-range.ts";
import type { Indexer } from "./indexers.ts";
import { openResumePoint } from "./resume-point.ts";
import { sourceFilters } from "./source-filters.ts";
import { walkEvents } from "./walk-events.ts";

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
    left: audit.left + left,
    differences: [...audit.differences, ...differences].slice(0, maxListedDifferences),
  };
}

type AuditState = Audit & { next: number | null };

const commandOf = ({ range, repair }: AuditOptions): string =>
  `${range.from ?? ""}..${range.to ?? ""}${repair ? " repair" : ""}`;

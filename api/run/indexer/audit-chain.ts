import type { Database } from "../../../projections/database.ts";
import {
  type ChainBlock,
  compareBlocks,
  type Difference,
  readLoggedBlocks,
  readSettledNumber,
  repairBlocks,
} from "../../../projections/log/audit.ts";
import { coreIndexer } from "../../../projections/log/indexer-id.ts";
import { readIndexerProgress } from "../../../projections/log/indexer-progress.ts";
import { type ChainClient, openChainClient } from "../../background/chain/clients.ts";
import { fetchReadBasis } from "../../background/chain/contract-calls.ts";
import { fetchHeaders, fetchLogIndexes } from "../../background/chain/fetch-logs.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { type ChainEvent, fetchMissing } from "./chain-events.ts";
import type { Indexer } from "./indexers.ts";
import { openResumePoint } from "./resume-point.ts";
import { type SourceFilter, sourceFilters } from "./source-filters.ts";
import { walkEvents } from "./walk-events.ts";

type Range = { from: number; to: number };

type AuditedIndexer = Pick<Indexer, "name" | "recorded">;

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

type AuditContext = AuditOptions & { client: ChainClient; filters: SourceFilter[] };

/**
 * Compares the log with the chain's own logs, range by range, and repairs it on request. Only blocks that are final on
 * the chain and recorded from the indexer are compared. An interrupted audit continues where it stopped.
 */
export async function auditChain(options: AuditOptions): Promise<Audit> {
  const { db, chain, indexers, onProgress } = options;
  const client = openChainClient(chain);
  const resumePoint = openResumePoint<AuditState>(db, chain.chainId, commandOf(options));
  let audit = (await resumePoint.read()) ?? {
    ...(await startAudit(options, client)),
    next: null,
  };
  const compared = indexers.filter(({ name }) => !audit.catchingUp.includes(name));
  const filters = sourceFilters(compared.flatMap(({ recorded }) => recorded.sources));
  const work = { ...options, client, filters };
  const walk = { from: audit.next ?? audit.from, to: audit.to, width: chain.logsBlockRange };
  for await (const { range, events } of walkEvents(client, filters, walk)) {
    audit = { ...addCompared(audit, await auditRange(work, range, events)), next: range.to + 1 };
    await resumePoint.save(audit);
    onProgress({ ...range, until: audit.to });
  }
  await resumePoint.clear();
  const { next: _, ...result } = audit;
  return result;
}

async function startAudit(
  { db, chain, indexers, range }: AuditOptions,
  client: ChainClient,
): Promise<Audit> {
  const head = Number((await fetchReadBasis(client)).number);
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
async function readSettled(db: Database, chainId: number, indexer: AuditedIndexer) {
  const id = { chainId, indexer: indexer.name };
  const progress = await readIndexerProgress(db, id);
  const follows = indexer.name === coreIndexer || progress?.isCaughtUp === true;
  return { indexer, follows, number: await readSettledNumber(db, chainId, indexer.name) };
}

type Compared = Pick<Audit, "blocks" | "events" | "differences"> & { left: number };

async function auditRange(
  work: AuditContext,
  range: Range,
  events: readonly ChainEvent[],
): Promise<Compared> {
  const blocks = blocksOf(events);
  const differences = await compare(work, range, blocks);
  const counted = { blocks: blocks.length, events: events.length, differences };
  if (!work.repair || differences.length === 0) return { ...counted, left: differences.length };
  await repair(work, range, differences, events);
  return { ...counted, left: (await compare(work, range, blocks)).length };
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
  { db, client, chain }: AuditContext,
  range: Range,
  onChain: readonly ChainBlock[],
): Promise<Difference[]> {
  const logged = await readLoggedBlocks(db, chain.chainId, range);
  const known = new Map<number, string | null>(onChain.map(({ number, hash }) => [number, hash]));
  const unknown = logged.map(({ number }) => number).filter((number) => !known.has(number));
  for (const [number, header] of await fetchHeaders(client, [...new Set(unknown)])) {
    known.set(number, header?.hash ?? null);
  }
  const differences: Difference[] = [];
  for (const one of compareBlocks(logged, onChain, known)) {
    const logIndexes = one.kind === "surplus" ? await findUnknownLogs(client, one) : one.logIndexes;
    if (logIndexes.length > 0) differences.push({ ...one, logIndexes });
  }
  return differences;
}

/** Recorded events without a log in the block. Others may be there because an earlier configuration indexed more. */
async function findUnknownLogs(
  client: ChainClient,
  { hash, logIndexes }: Difference,
): Promise<number[]> {
  const onChainIndexes = new Set(await fetchLogIndexes(client, hash));
  return logIndexes.filter((logIndex) => !onChainIndexes.has(logIndex));
}

async function repair(
  { db, client, chain }: AuditContext,
  range: Range,
  differences: readonly Difference[],
  events: readonly ChainEvent[],
): Promise<void> {
  const logged = await readLoggedBlocks(db, chain.chainId, range);
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
  await repairBlocks(
    db,
    {
      wrong: idsOf("wrong_block"),
      dropped: idsOf("dropped_block"),
      ...(await fetchMissing(db, client, missing)),
    },
    new Date(),
  );
}

function addCompared(audit: Audit, { blocks, events, differences, left }: Compared): Audit {
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

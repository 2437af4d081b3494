import type { Database } from "../../../projections/database.ts";
import {
  type ChainBlock,
  compareBlocks,
  type Difference,
  readLoggedBlocks,
  readSettledNumber,
  repairBlocks,
} from "../../../projections/log/audit.ts";
import { type ChainClient, openChainClient } from "../../background/chain/clients.ts";
import { fetchReadBasis } from "../../background/chain/contract-calls.ts";
import { fetchHeaders, fetchLogIndexes } from "../../background/chain/fetch-logs.ts";
import type { ChainConfig } from "../config/chain-config.ts";
import { type ChainEvent, completeEvents } from "./chain-events.ts";
import type { IndexedSources } from "./indexed-sources.ts";
import { openResumePoint } from "./resume-point.ts";
import { type SourceFilter, sourceFilters } from "./source-filters.ts";
import { walkEvents } from "./walk-events.ts";

type Range = { from: number; to: number };

export type AuditOptions = {
  db: Database;
  chain: ChainConfig;
  sources: IndexedSources;
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
};

/** Differences that are listed; all are counted. */
const maxListedDifferences = 1_000;

type AuditContext = AuditOptions & { client: ChainClient; filters: SourceFilter[] };

/**
 * Compares the log with the chain's own logs, range by range, and repairs it on request. Only blocks that are final on
 * the chain and recorded from the indexer are compared. An interrupted audit continues where it stopped.
 */
export async function auditChain(options: AuditOptions): Promise<Audit> {
  const { db, chain, sources, onProgress } = options;
  const work = {
    ...options,
    client: openChainClient(chain),
    filters: sourceFilters(sources.sources),
  };
  const resumePoint = openResumePoint<AuditState>(db, chain.chainId, commandOf(options));
  let audit = (await resumePoint.read()) ?? {
    ...(await startAudit(work)),
    next: null,
  };
  const walk = { from: audit.next ?? audit.from, to: audit.to, width: chain.logsBlockRange };
  for await (const { range, events } of walkEvents(work.client, work.filters, walk)) {
    audit = { ...addCompared(audit, await auditRange(work, range, events)), next: range.to + 1 };
    await resumePoint.save(audit);
    onProgress({ ...range, until: audit.to });
  }
  await resumePoint.clear();
  const { next: _, ...result } = audit;
  return result;
}

async function startAudit({ client, db, chain, sources, range }: AuditContext): Promise<Audit> {
  const head = Number((await fetchReadBasis(client)).number);
  const settled = await readSettledNumber(db, chain.chainId);
  const final = Math.min(head - chain.finalityBlocks, settled);
  return {
    chainId: chain.chainId,
    from: range.from ?? Math.min(...sources.sources.map(({ firstBlock }) => firstBlock)),
    to: Math.min(range.to ?? final, final),
    blocks: 0,
    events: 0,
    found: 0,
    left: 0,
    differences: [],
  };
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
      missing: await completeEvents(client, missing),
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

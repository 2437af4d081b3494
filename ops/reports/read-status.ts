import { sql } from "kysely";
import { type HeadReading, openHeadReader } from "#jobs/chain/fetch-head.ts";
import { type Checkpoint, isCurrent, readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { readExcludedFacts } from "#projections/engine/quarantine.ts";
import { readUnfinishedRebuilds, shadowSchemas } from "#projections/engine/shadow-schema.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import {
  formatProvedShare,
  type HistoryState,
  readHistoryState,
} from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import { readPaused } from "#projections/log/operators.ts";
import {
  type IndexerState,
  readIndexedBlocks,
  readIndexerStates,
  readRecordedHead,
} from "#projections/log/progress.ts";
import { type IndexedSource, readSources } from "#projections/log/sources.ts";
import { isServed, isVersionOf, schemaOf } from "#projections/log/versions.ts";
import { readPriceHistory } from "#projections/prices/read-prices.ts";
import type { ChainConfig } from "../config/config.ts";
import { configuredProjections, type InspectedConfig } from "./inspected-config.ts";

/** How far chains, log and projections are: what `op status` prints. */
export async function readServiceProgress(
  db: Database,
  config: InspectedConfig,
  fetchHead: FetchChainHead = fetchChainHead,
) {
  const head = await readLogHead(db);
  const [chains, projections] = await Promise.all([
    Promise.all(config.chains.map((chain) => readChain(db, chain, fetchHead))),
    readProjections(db, configuredProjections(config), head),
  ]);
  const [paused, excluded] = [await readPaused(db), await readExcludedFacts(db)];
  const prices = await readPriceHistory(db, new Date());
  return { logHead: Number(head), paused, chains, projections, prices, excluded };
}

export type ServiceProgress = Awaited<ReturnType<typeof readServiceProgress>>;

async function readChain(db: Database, chain: ChainConfig, fetchHead: FetchChainHead) {
  const { chainId } = chain;
  const [{ head, faults }, blocks] = await Promise.all([
    fetchHead(chain),
    readIndexedBlocks(db, chainId),
  ]);
  const recorded = await readRecordedHead(db, chainId, blocks?.indexed.number ?? 0);
  const indexed = blocks?.indexed ?? null;
  const isKnown = head !== null && indexed !== null;
  return {
    chainId,
    head: head?.number ?? null,
    indexed: indexed?.number ?? null,
    recorded: recorded.recorded?.number ?? null,
    finalized: blocks?.finalized.number ?? null,
    lagBlocks: isKnown ? Math.max(0, head.number - indexed.number) : null,
    lagSeconds: isKnown ? Math.max(0, head.timestamp - indexed.timestamp) : null,
    proved: provedText(await readHistoryState(db, chainId)),
    faults: faults.map(({ message }) => message),
  };
}

/** How far down the history is proved, and which part of it that is; null before the first proved block. */
function provedText(history: HistoryState | null): string | null {
  if (history === null) return null;
  const { share, provedFrom, repaired, unrepaired } = history;
  const part = share === null ? "not provable" : formatProvedShare(share);
  const mended = repaired > 0 ? `, ${repaired} blocks mended` : "";
  return `${part} from ${provedFrom}${mended}${unrepaired > 0 ? `, ${unrepaired} differ` : ""}`;
}

async function readProjections(db: Database, all: readonly Projection[], head: bigint) {
  const checkpoints = await readCheckpoints(db);
  const rebuilds = await readUnfinishedRebuilds(db, all);
  const { rows } = await sql<{ schema: string; updatedAt: Date }>`
    select projection as schema, updated_at as "updatedAt" from engine.checkpoint`.execute(db);
  const updatedAt = new Map(rows.map((row) => [row.schema, row.updatedAt.toISOString()]));
  return all.map((projection) => {
    const { name } = projection;
    const { previous } = shadowSchemas(name);
    const unfinished = rebuilds.find((one) => one.name === name);
    const stored = checkpoints.get(schemaOf(name));
    const at = (schema: string) => {
      const one = checkpoints.get(schema);
      return one === undefined ? null : { version: one.version, position: Number(one.position) };
    };
    return {
      name,
      schema: schemaOf(name),
      version: stored?.version ?? null,
      isCurrent: stored !== undefined && isCurrent(stored, projection),
      position: stored === undefined ? null : Number(stored.position),
      // The log's head was read before.
      lag: stored === undefined ? null : Math.max(0, Number(head - stored.position)),
      updatedAt: updatedAt.get(schemaOf(name)) ?? null,
      rebuilding:
        unfinished === undefined
          ? null
          : { ...unfinished, name: undefined, position: Number(unfinished.position) },
      previous: at(previous),
      others: otherVersions(name, checkpoints).map((one) => ({
        ...one,
        updatedAt: updatedAt.get(one.schema) ?? null,
      })),
    };
  });
}

/** Versions of other releases, whose projectors may move them. */
function otherVersions(name: string, checkpoints: ReadonlyMap<string, Checkpoint>) {
  return [...checkpoints]
    .filter(([schema]) => isVersionOf(schema, name) && !isServed(schema))
    .map(([schema, { version, position }]) => ({ schema, version, position: Number(position) }));
}

/** What is indexed of a chain, by which indexer and how far: what `op sources` prints. */
export async function readChainSources(
  db: Database,
  chain: ChainConfig,
  fetchHead: FetchChainHead = fetchChainHead,
) {
  const { head } = chain.rpcUrls.length > 0 ? await fetchHead(chain) : { head: null };
  const indexers = await readIndexerStates(db, chain.chainId, head?.number ?? null);
  const states = new Map(indexers.map((one) => [one.indexer, one]));
  const sources = (await readSources(db, chain.chainId)).map((one) => ({
    source: one.source,
    indexer: one.indexer,
    addedBy: one.addedBy,
    removedBy: one.removedBy,
    ...progressOf(one, states.get(one.indexer)),
  }));
  return { chainId: chain.chainId, head: head?.number ?? null, sources };
}

function progressOf({ removedBy }: IndexedSource, state: IndexerState | undefined) {
  if (removedBy !== null || state === undefined) {
    return { state: "removed", indexed: null, remainingBlocks: null, remainingSeconds: null };
  }
  const { indexed, remainingBlocks, remainingSeconds } = state;
  return { state: state.state, indexed, remainingBlocks, remainingSeconds };
}

export type ChainSources = Awaited<ReturnType<typeof readChainSources>>;

export type FetchChainHead = (chain: ChainConfig) => Promise<HeadReading>;

/** The head of a chain now, and the faults of its nodes. */
export function fetchChainHead({ chainId, rpcUrls }: ChainConfig): Promise<HeadReading> {
  return openHeadReader({ chainId, rpcUrls, timeoutMs: 5_000, maxAgeMs: 0, staleBlocks: 10 })();
}

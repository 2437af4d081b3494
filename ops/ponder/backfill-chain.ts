import { openChainClient } from "#jobs/chain/client.ts";
import { repairBlocks } from "#projections/log/audit.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainConfig } from "../config/config.ts";
import { type ChainReader, withChainReader } from "../reader/chain-reader.ts";
import { fetchMissing, openResumePoint, walkEvents } from "./chain-events.ts";
import { type ChainEventSource, sourceFilters } from "./indexed-sources.ts";

export type BackfillOptions = {
  db: Database;
  chain: ChainConfig;
  sources: readonly ChainEventSource[];
  /** Names what is backfilled, for its progress. */
  what: string;
  from: number;
  to: number;
  onProgress: (saved: { to: number; until: number; appended: number }) => void;
};

export type Backfill = { chainId: number; from: number; to: number; appended: number };

/**
 * Appends the facts of a range of final blocks directly from the chain's logs, each once. An interrupted backfill
 * continues where it stopped; a finished one may be repeated and appends nothing.
 */
export function backfillChain(options: BackfillOptions): Promise<Backfill> {
  return withChainReader(options.chain, (reader) => runBackfill(options, reader));
}

async function runBackfill(options: BackfillOptions, reader: ChainReader): Promise<Backfill> {
  const { db, chain, sources, what, onProgress } = options;
  const { chainId } = chain;
  const read = { client: openChainClient(chain), blocks: reader.blocks };
  const finalBlock = Number((await reader.heads.first).number) - chain.finalityBlocks;
  const to = Math.min(options.to, finalBlock);
  const command = `backfill ${options.from}..${options.to} ${what}`;
  const filters = sourceFilters(sources.map((source) => ({ ...source, firstBlock: 0 })));
  const resumePoint = openResumePoint<{ next: number; to: number; appended: number }>(
    db,
    chainId,
    command,
  );
  const done = await resumePoint.read();
  let appended = done?.appended ?? 0;
  const walk = { from: done?.next ?? options.from, to, width: chain.logsBlockRange };
  for await (const { range, events } of walkEvents(reader, filters, walk)) {
    const missing = await fetchMissing(db, read, events);
    appended += await repairBlocks(db, { wrong: [], dropped: [], ...missing }, new Date());
    await resumePoint.save({ next: range.to + 1, to, appended });
    onProgress({ to: range.to, until: to, appended });
  }
  await resumePoint.clear();
  return { chainId, from: options.from, to, appended };
}

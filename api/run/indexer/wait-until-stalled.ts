import { sql } from "kysely";
import type { Database } from "../../../projections/database.ts";
import { readIndexedBlocks } from "../../../projections/log/status.ts";
import type { ChainReader } from "../../background/chain-reader/chain-reader.ts";
import { sleep } from "../../background/log-signal/back-off.ts";

type Watched = {
  reader: ChainReader;
  indexer: string;
  schema: string;
  /** Whether Ponder follows new blocks. */
  isLive: () => boolean;
};

const pollMs = 2_000;
/** Ponder retries a block that a reorg removed for a minute; a restart takes seconds. */
const stalledAfterMs = { live: 15_000, backfill: 60_000 };

/**
 * Resolves with a reason when Ponder has not advanced although the chain's head is ahead of it: for 15 s while it follows
 * new blocks, and for a minute, without a range of history or an event stored, before. Never resolves otherwise: a chain
 * without new blocks is not a stall, nor is one whose nodes do not answer.
 */
export async function waitUntilStalled(
  db: Database,
  watched: Watched,
  signal: AbortSignal,
): Promise<string> {
  const { reader, indexer, isLive } = watched;
  let last = { progress: "", at: performance.now() };
  while (!signal.aborted) {
    await sleep(pollMs, signal);
    const head = reader.heads.head();
    const wasLive = isLive();
    const indexed = (await readIndexedBlocks(db, reader.chainId, indexer).catch(() => null))
      ?.indexed.number;
    const progress = wasLive
      ? `${indexed}`
      : await readBackfill(db, watched).catch(() => undefined);
    if (head === null || progress === undefined) continue;
    const isAtHead = wasLive && indexed !== undefined && indexed >= Number(head.number);
    const isWaiting =
      reader.waiting() !== null || reader.pool.nodes.every(({ fault }) => fault !== null);
    if (progress !== last.progress || isAtHead || isWaiting)
      last = { progress, at: performance.now() };
    else if (performance.now() - last.at > stalledAfterMs[wasLive ? "live" : "backfill"]) {
      return `Ponder stalled at block ${indexed ?? "none"}, chain head is ${Number(head.number)}`;
    }
  }
  return new Promise(() => {});
}

/** Changes with each range of history that Ponder has read, and with each of its commits. */
async function readBackfill(db: Database, { reader, schema }: Watched): Promise<string> {
  const { rows } = await sql<{ intervals: string | null; checkpoint: string | null }>`
    select
      (select md5(string_agg(blocks::text, ' ' order by fragment_id))
       from ponder_sync.intervals where chain_id = ${reader.chainId}) as intervals,
      (select max(latest_checkpoint) from ${sql.table(`${schema}._ponder_checkpoint`)}) as checkpoint
  `.execute(db);
  return `${rows[0]?.intervals} ${rows[0]?.checkpoint}`;
}

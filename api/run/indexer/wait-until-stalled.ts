import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { readIndexedBlocks } from "#projections/log/progress.ts";
import type { ChainReader } from "#api/background/chain-reader/chain-reader.ts";
import { sleep } from "#jobs/runner/back-off.ts";

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
 * new blocks; before, for a minute without an event or a range of history stored, nor anything asked of the reader. Never
 * resolves otherwise: a chain without new blocks is not a stall, nor is one whose nodes do not answer.
 */
export async function waitUntilStalled(
  db: Database,
  watched: Watched,
  signal: AbortSignal,
): Promise<string> {
  let last = { progress: "", at: performance.now() };
  while (!signal.aborted) {
    await sleep(pollMs, signal);
    const wasLive = watched.isLive();
    const progress = await readProgress(db, watched, wasLive).catch(() => null);
    // Null: there is nothing that it should do, or the database does not say.
    if (progress === null || progress !== last.progress) {
      last = { progress: progress ?? "", at: performance.now() };
    } else if (performance.now() - last.at > stalledAfterMs[wasLive ? "live" : "backfill"]) {
      const head = Number(watched.reader.heads.head()?.number);
      return `Ponder stalled, its progress is ${progress}, and the chain's head ${head}`;
    }
  }
  return new Promise(() => {});
}

/** A text that changes with what Ponder does; null when it need not do anything. */
async function readProgress(
  db: Database,
  watched: Watched,
  isLive: boolean,
): Promise<string | null> {
  const { reader, indexer } = watched;
  const head = reader.heads.head();
  if (head === null || reader.waiting() !== null) return null;
  if (!isLive) return readBackfill(db, watched);
  const { indexed } = (await readIndexedBlocks(db, reader.chainId, indexer)) ?? { indexed: null };
  return indexed !== null && indexed.number >= Number(head.number)
    ? null
    : `block ${indexed?.number ?? "none"}`;
}

/** Changes with each range of history that Ponder has read, each of its commits, and each thing that it asks. */
async function readBackfill(db: Database, { reader, schema }: Watched): Promise<string> {
  const { rows } = await sql<{ intervals: string | null; checkpoint: string | null }>`
    select
      (select md5(string_agg(blocks::text, ' ' order by fragment_id))
       from ponder_sync.intervals where chain_id = ${reader.chainId}) as intervals,
      (select max(latest_checkpoint) from ${sql.table(`${schema}._ponder_checkpoint`)}) as checkpoint
  `.execute(db);
  return `history ${rows[0]?.intervals}, event ${rows[0]?.checkpoint}, request ${reader.requests()}`;
}

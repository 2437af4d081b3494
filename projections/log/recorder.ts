import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import { appendBlockStates } from "./block-states.ts";
import { readMissingTransfers, type TransferReader } from "./missing-transfers.ts";
import { stageEvents } from "./ponder-events.ts";
import { blockNumberOf } from "./ponder-id.ts";
import { type CanonicalHashes, type Plan, type RecordedBlock, reconcile } from "./reconcile.ts";
import {
  type RecorderProgress,
  readChunkEnd,
  readPonderBlocks,
  readRecordedBlocks,
  readRecorderProgress,
} from "./recorder-reads.ts";
import { appendStaged, openStage } from "./stage.ts";

/** Finalized events that one transaction takes from Ponder's backlog. */
const BACKLOG_EVENTS = 10_000;

export type RecorderPass = {
  /** Facts appended, retractions and re-adoptions included. */
  appended: number;
  /** More of the backlog waits: call again at once. */
  more: boolean;
  /** Blocks held back until Ponder and the chain agree about their heights. */
  held: number;
};

export type Recording = {
  chainId: number;
  canonicalHashes: CanonicalHashes;
  /** Reads what some events are stored with; absent: none is. */
  transfers?: TransferReader;
  now: () => Date;
  /** Asked before each commit; throws when another process records by now. */
  fence: (session: Session) => Promise<void>;
};

/**
 * Moves one chain's events from Ponder's tables into the log, a chunk of the finalized ones or all of the others.
 * The blocks of the range are compared with the log's, and what differs is appended, retracted and re-adopted in one
 * transaction: readers see the old branch or the new one. Throws when the chain had to be asked and did not answer.
 */
export async function recordChain(db: Database, recording: Recording): Promise<RecorderPass> {
  const { chainId, canonicalHashes } = recording;
  const standing = await readRecorderProgress(db, chainId);
  if (standing === null) return { appended: 0, more: false, held: 0 };

  const isBacklog = standing.settledId < standing.finalizedId;
  const upTo = isBacklog ? await readChunkEnd(db, standing, BACKLOG_EVENTS) : null;
  const inPonder = await readPonderBlocks(db, standing.schema, standing.settledId, upTo);
  const plan = await reconcile(
    inPonder,
    await recorded(db, chainId, standing, upTo),
    canonicalHashes,
  );
  const settles = upTo !== null && plan.held === 0;
  const appended = await executePlan(db, recording, standing, { plan, upTo, settles });
  return { appended, more: settles, held: plan.held };
}

/**
 * The log's blocks of the range. What is settled is not looked at again, so it is taken in whole whatever the counts
 * say: another configuration's schema may have other events of a block. Those that the log holds are skipped there.
 */
async function recorded(
  db: Database,
  chainId: number,
  { settledNumber }: RecorderProgress,
  upTo: string | null,
): Promise<RecordedBlock[]> {
  if (upTo === null) return await readRecordedBlocks(db, chainId, settledNumber, null);
  const blocks = await readRecordedBlocks(db, chainId, settledNumber, blockNumberOf(upTo));
  return blocks.map((block) => ({ ...block, events: 0 }));
}

type Step = { plan: Plan; upTo: string | null; settles: boolean };

async function executePlan(
  db: Database,
  { chainId, transfers, now, fence }: Recording,
  { schema, settledId }: RecorderProgress,
  { plan, upTo, settles }: Step,
): Promise<number> {
  const changes = plan.retract.length + plan.readopt.length + plan.append.length;
  if (changes === 0 && !settles) return 0;
  const selection = { after: settledId, upTo, blockHashes: plan.append };
  // Before the transaction: a slow node holds no lock.
  const found = transfers ? await readMissingTransfers(db, schema, selection, transfers) : [];
  return await db.transaction().execute(async (session) => {
    let appended = 0;
    appended += await appendBlockStates(session, "block_retracted", plan.retract, now());
    appended += await appendBlockStates(session, "block_readopted", plan.readopt, now());
    if (plan.append.length > 0) {
      await openStage(session);
      await stageEvents(session, schema, selection, found);
      appended += (await appendStaged(session)).appended;
    }
    if (settles && upTo !== null) await settle(session, chainId, schema, upTo);
    await fence(session);
    return appended;
  });
}

async function settle(
  session: Session,
  chainId: number,
  schema: string,
  id: string,
): Promise<void> {
  await sql`
    insert into ops.recorder (chain_id, ponder_schema, settled_id) values (${chainId}, ${schema}, ${id})
    on conflict (chain_id, ponder_schema) do update set settled_id = excluded.settled_id, updated_at = now()
  `.execute(session);
}

import type { Database } from "#projections/database.ts";
import type { IndexerId } from "../indexer-id.ts";
import { executePlan } from "./execute-plan.ts";
import { afterAllIds, blockNumberOf } from "./ponder-id.ts";
import { type Plan, type PonderBlock, type RecordedBlock, reconcile } from "./reconcile.ts";
import { type RecorderProgress, readBlocksAbove, readChunkEnd, readPonderBlocks, readPonderSchema, readRecordedBlocks, readRecorderProgress } from "./recorder-reads.ts";
import type { Recording } from "./recording.ts";

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

/**
 * Moves an indexer's events from Ponder's tables into the log, a chunk of the finalized ones or all of the others.
 * The blocks of the range are compared with the log's, and what differs is appended, retracted and re-adopted in one
 * transaction: readers see the old branch or the new one. Throws when the chain had to be asked and did not answer.
 */
export async function recordChain(db: Database, recording: Recording): Promise<RecorderPass> {
  const { backlogEvents = BACKLOG_EVENTS, canonicalHashes } = recording;
  const ponder = await readPonderSchema(db, recording);
  if (ponder !== null) await recording.onSchema?.(ponder.schema);
  const standing =
    ponder?.hasTables === true ? await readRecorderProgress(db, recording, ponder.schema) : null;
  if (standing === null) return { appended: 0, more: false, held: 0 };

  const isBacklog = standing.settledId < standing.finalizedId;
  const upTo = isBacklog ? await readChunkEnd(db, standing, backlogEvents) : null;
  const sources = [...new Set((recording.transfers?.events ?? []).map(({ source }) => source))];
  const range = { upTo: upTo ?? afterAllIds, sources };
  const inPonder = await readPonderBlocks(db, recording, standing, range);
  const inLog = await recorded(db, recording, standing, { inPonder, upTo });
  const plan = await reconcile(inPonder, inLog, canonicalHashes);
  await retractAboveFork(db, recording, plan, { inPonder, inLog });
  const settles = upTo !== null && plan.held === 0;
  const step = { plan, inPonder, upTo, settles };
  const { appended, isWhole } = await executePlan(db, recording, standing, step);
  return { appended, more: settles || !isWhole, held: plan.held };
}

type Range = { inPonder: readonly PonderBlock[]; upTo: string | null };

/**
 * The log's blocks of the range. What is settled is not looked at again, so it is taken in whole whatever the counts
 * say: another configuration's schema may have other events of a block. Those that the log holds are skipped there.
 */
async function recorded(
  db: Database,
  id: IndexerId,
  { settledNumber: after }: RecorderProgress,
  { inPonder, upTo }: Range,
): Promise<RecordedBlock[]> {
  if (upTo === null) return await readRecordedBlocks(db, id, inPonder, { after, upTo });
  const range = { after, upTo: blockNumberOf(upTo) };
  const blocks = await readRecordedBlocks(db, id, inPonder, range);
  return blocks.map((block) => ({ ...block, events: 0 }));
}

/**
 * Where a branch is abandoned, adds to the plan the blocks of it that hold other indexers' events only: these may not
 * have noticed yet.
 */
async function retractAboveFork(
  db: Database,
  { chainId, canonicalHashes }: Recording,
  plan: Plan,
  { inPonder, inLog }: { inPonder: readonly PonderBlock[]; inLog: readonly RecordedBlock[] },
): Promise<void> {
  const abandoned = inLog.filter(({ blockId }) => plan.retract.includes(blockId));
  const [first] = abandoned.map(({ number }) => number).sort((a, b) => (a < b ? -1 : 1));
  if (first === undefined) return;
  const known = new Set([...inPonder, ...inLog].map(({ hash }) => hash));
  const above = (await readBlocksAbove(db, chainId, first)).filter(({ hash }) => !known.has(hash));
  if (above.length === 0) return;
  const canonical = await canonicalHashes([...new Set(above.map(({ number }) => number))]);
  // A height that the chain has not reached again is abandoned with the branch.
  const gone = above.filter(({ number, hash }) => canonical.get(number) !== hash);
  plan.retract.push(...gone.map(({ blockId }) => blockId));
}

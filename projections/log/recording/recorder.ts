import { sql } from "kysely";
import { appendStaged, openStage } from "../append.ts";
import { appendBlockStates, firstBlockId } from "../blocks.ts";
import type { Database, Session } from "../database.ts";
import type { IndexerId } from "../sources.ts";
import {
  type PoolCoinReader,
  readMissingPoolCoins,
  readMissingTransfers,
  type TransferReader,
} from "./missing-transfers.ts";
import {
  afterAllIds,
  blockNumberOfId,
  type EventSelection,
  type EventTransfers,
  type FoundBeside,
  stageEvents,
} from "./ponder-events.ts";
import {
  type CanonicalHashes,
  isRecorded,
  type Plan,
  type PonderBlock,
  type ReadBlock,
  type RecordedBlock,
  type RecorderProgress,
  readBlocksAbove,
  readChunkEnd,
  readLastIdBelow,
  readPonderBlocks,
  readPonderSchema,
  readRecordedBlocks,
  readRecorderProgress,
  reconcile,
} from "./reconcile.ts";

/** What an indexer's events are recorded with. */
export type Recording = IndexerId & {
  canonicalHashes: CanonicalHashes;
  /** Reads what some events are stored with; absent: none is. */
  transfers?: TransferReader;
  /** Reads what pools are paid in; absent: their events are stored without. */
  poolCoins?: PoolCoinReader;
  now: () => Date;
  /** Asked before each commit; throws when another process records by now. */
  fence: (session: Session) => Promise<void>;
  /** Events of the backlog that one transaction takes; absent: 10,000. */
  backlogEvents?: number;
  /** Transfers of receipts that one transaction stores, about; absent: 100,000. */
  passTransfers?: number;
  /** Told Ponder's schema before anything is read from it: each pass, as it may be another one. */
  onSchema?: (schema: string) => Promise<void>;
};

/** Finalized events that one transaction takes from Ponder's backlog. */
const BACKLOG_EVENTS = 10_000;

type RecorderPass = {
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
  const range = { after, upTo: blockNumberOfId(upTo) };
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

/** Transfers of receipts that one transaction stores, about: it ends with a block. */
const PASS_TRANSFERS = 100_000;

/** Events that are staged with plans made for any. */
const FEW_EVENTS = 1_000;

/** A plan, and the blocks that it was made for, up to an id of the backlog or, with null, all. */
type Step = {
  plan: Plan;
  inPonder: readonly ReadBlock[];
  upTo: string | null;
  settles: boolean;
};

/** Appends in one transaction what a plan says. `isWhole`: not a part of it alone. */
async function executePlan(
  db: Database,
  recording: Recording,
  progress: RecorderProgress,
  whole: Step,
): Promise<{ appended: number; isWhole: boolean }> {
  const { now, fence } = recording;
  const changes = whole.plan.retract.length + whole.plan.readopt.length + whole.plan.append.length;
  if (changes === 0 && !whole.settles) return { appended: 0, isWhole: true };
  // Before the transaction: a slow node holds no lock.
  const { step, found, isWhole } = await readBeside(db, recording, progress, whole);
  const { plan, inPonder, upTo, settles } = step;
  const appended = await db.transaction().execute(async (session) => {
    let appended = 0;
    appended += await appendBlockStates(session, "block_retracted", plan.retract, now());
    appended += await appendBlockStates(session, "block_readopted", plan.readopt, now());
    if (plan.append.length > 0) {
      const plansOnce = blocksOf(step).reduce((sum, { events }) => sum + events, 0) <= FEW_EVENTS;
      await openStage(session, { plansOnce });
      await stageEvents(session, progress.schema, selectionOf(recording, progress, step), found);
      appended += (await appendStaged(session)).appended;
    }
    if (settles && upTo !== null) await settle(session, recording, progress.schema, upTo);
    else await storeRecordedBlocks(session, recording, plan, inPonder);
    await fence(session);
    return appended;
  });
  return { appended, isWhole };
}

function blocksOf({ plan, inPonder }: Step): ReadBlock[] {
  const appending = new Set(plan.append);
  return inPonder.filter(({ hash }) => appending.has(hash));
}

function selectionOf(
  recording: Recording,
  progress: RecorderProgress,
  { plan, upTo }: Step,
): EventSelection {
  return {
    after: progress.settledId,
    upTo: upTo ?? afterAllIds,
    blockHashes: plan.append,
    condition: isRecorded(recording, progress),
  };
}

type StepWith<Found> = { step: Step; found: Found; isWhole: boolean };

/** What events of a step are stored with; where that is too much, of a part of the step. */
async function readBeside(
  db: Database,
  recording: Recording,
  progress: RecorderProgress,
  whole: Step,
): Promise<StepWith<FoundBeside>> {
  const read = await readTransfers(db, recording, progress, whole);
  const { step, found: transfers } = read;
  const { poolCoins } = recording;
  if (poolCoins === undefined || !blocksOf(step).some(({ holdsSources }) => holdsSources))
    return { ...read, found: { transfers, coins: {} } };
  const selection = selectionOf(recording, progress, step);
  const coins = await readMissingPoolCoins(db, progress.schema, selection, poolCoins);
  return { ...read, found: { transfers, coins } };
}

/** The transfers that events of a step are stored with; where these are too many, of a part of the step. */
async function readTransfers(
  db: Database,
  recording: Recording,
  progress: RecorderProgress,
  step: Step,
): Promise<StepWith<EventTransfers[]>> {
  const { transfers, passTransfers = PASS_TRANSFERS } = recording;
  if (transfers === undefined || !blocksOf(step).some(({ holdsSources }) => holdsSources))
    return { step, found: [], isWhole: true };
  const selection = selectionOf(recording, progress, step);
  const { schema } = progress;
  const read = await readMissingTransfers(db, schema, selection, transfers, passTransfers);
  const { found, next } = read;
  if (next === null) return { step, found, isWhole: true };
  const numbers = new Map(step.inPonder.map(({ hash, number }) => [hash, number]));
  const append = step.plan.append.filter((hash) => (numbers.get(hash) ?? 0n) < next.blockNumber);
  const upTo = step.upTo === null ? null : await readLastIdBelow(db, progress, next);
  return { step: { ...step, plan: { ...step.plan, append }, upTo }, found, isWhole: false };
}

async function settle(
  session: Session,
  { chainId, indexer }: IndexerId,
  schema: string,
  id: string,
): Promise<void> {
  await sql`
    insert into ops.recorder (chain_id, ponder_schema, settled_id, indexer)
    values (${chainId}, ${schema}, ${id}, ${indexer})
    on conflict (chain_id, ponder_schema) do update set settled_id = excluded.settled_id, updated_at = now()
  `.execute(session);
  await sql`
    delete from ops.recorded_block
    where chain_id = ${chainId} and indexer = ${indexer}
      and block_id < ${firstBlockId(chainId, blockNumberOfId(id) + 1n)}`.execute(session);
}

/** Remembers which blocks hold events of the indexer: it is suspected of a reorg when it drops one of them. */
async function storeRecordedBlocks(
  session: Session,
  { chainId, indexer }: IndexerId,
  { append }: Plan,
  inPonder: readonly PonderBlock[],
): Promise<void> {
  const appended = new Set(append);
  const blocks = inPonder.filter(({ hash, events }) => events > 0 && appended.has(hash));
  if (blocks.length === 0) return;
  await sql`
    insert into ops.recorded_block (chain_id, indexer, block_id, events)
    select ${chainId}, ${indexer}, b.block_id, recorded.events
    from unnest(${blocks.map(({ hash }) => hash)}::text[], ${blocks.map(({ events }) => events)}::integer[])
      recorded (hash, events)
    join log.block b on b.chain_id = ${chainId} and b.hash = decode(substr(recorded.hash, 3), 'hex')
    on conflict (chain_id, indexer, block_id) do update set events = excluded.events`.execute(
    session,
  );
}

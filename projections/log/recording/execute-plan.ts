import { sql } from "kysely";
import type { Database, Session } from "#projections/database.ts";
import { firstBlockId } from "../block-id.ts";
import { appendBlockStates } from "../block-states.ts";
import type { IndexerId } from "../indexer-id.ts";
import { appendStaged, openStage } from "../stage.ts";
import { readMissingTransfers } from "./missing-transfers.ts";
import { type EventSelection, type EventTransfers, type FoundBeside, stageEvents } from "./ponder-events.ts";
import { afterAllIds, blockNumberOf } from "./ponder-id.ts";
import { readMissingPoolCoins } from "./pool-coins.ts";
import type { Plan, PonderBlock } from "./reconcile.ts";
import { isRecorded, type ReadBlock, type RecorderProgress, readLastIdBelow } from "./recorder-reads.ts";
import type { Recording } from "./recording.ts";

/** Transfers of receipts that one transaction stores, about: it ends with a block. */
const PASS_TRANSFERS = 100_000;

/** Events that are staged with plans made for any. */
const FEW_EVENTS = 1_000;

/** A plan, and the blocks that it was made for, up to an id of the backlog or, with null, all. */
export type Step = {
  plan: Plan;
  inPonder: readonly ReadBlock[];
  upTo: string | null;
  settles: boolean;
};

/** Appends in one transaction what a plan says. `isWhole`: not a part of it alone. */
export async function executePlan(
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
      and block_id < ${firstBlockId(chainId, blockNumberOf(id) + 1n)}`.execute(session);
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

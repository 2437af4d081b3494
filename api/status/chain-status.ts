import type { Head, HeadReading } from "#jobs/chain/fetch-head.ts";
import {
  type ChainFinality,
  describeNodeFault,
  type NodeFault,
  readChainFinality,
  readHistoryState,
  readNodeFaults,
} from "#projections/log/chain-state.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type IndexedBlocks,
  type IndexerState,
  type NewestEvent,
  type RecordedHead,
  readIndexedBlocks,
  readIndexerStates,
  readNewestEvent,
  readRecordedHead,
} from "#projections/log/progress.ts";
import { coreIndexer } from "#projections/log/sources.ts";
import {
  type CatchingUp,
  type ChainStatus,
  type FailingPart,
  type Findings,
  type Lag,
  type MaxLagSeconds,
  type ReadingFault,
  type TrackedFollower,
  trackFollower,
} from "./service-status.ts";

export type ChainSource = {
  readonly chainId: number;
  readonly readHead: () => Promise<HeadReading>;
  /** Hash of a block; null when the chain has no such block, undefined when no node answers. */
  readonly readHash: (number: number) => Promise<string | null | undefined>;
};

/** A lag of this many blocks counts as caught up on the first check. */
const closeEnoughBlocks = 5;

/** Checks one chain and how the indexer follows it. `db` is null while the database does not answer. */
export function openChainStatus(
  { chainId, readHead, readHash }: ChainSource,
  lateSeconds: MaxLagSeconds,
) {
  const check = openChainCheck(chainId, lateSeconds.indexer);
  const checkLog = openLogCheck({ chainId, readHash, lateSeconds });
  const checkIndexers = openIndexerStatus(chainId, lateSeconds.indexer);
  return async (db: Database | null, now: number): Promise<Findings<ChainStatus>> => {
    const [{ head, faults }, blocks] = await Promise.all([
      readHead(),
      db && readIndexedBlocks(db, chainId),
    ]);
    const recorded = db && blocks && (await readRecordedHead(db, chainId, blocks.indexed.number));
    const hash =
      blocks && (recorded?.hash ?? (await hashOf(blocks.indexed.number, head, readHash)));
    const indexers = await checkIndexers(db, head?.number ?? null, now);
    const newest = db && blocks && (await readNewestEvent(db, chainId));
    const { finality, history, nodeFaults } = await readReader(db, chainId);
    const failing = [
      ...explained(check({ head, faults }, blocks, now), nodeFaults),
      ...(await checkLog({ head, newest, recorded: recorded?.recorded ?? null }, now)),
      ...notIndexed(chainId, db, blocks),
      ...indexers.failing,
    ];
    const warnings = [
      ...(head === null ? [] : faults),
      ...indexers.warnings,
      ...nodeFaults.map((fault) => warningOf(chainId, fault)),
    ];
    const { status: states } = indexers;
    const found = { recorded, states, history, finality };
    const status = present(chainId, head, blocks && { ...blocks, hash }, found);
    return { status, failing, warnings };
  };
}

/** What the indexer's reader of the chain says of itself. */
const readReader = async (db: Database | null, chainId: number) =>
  db === null
    ? { finality: null, history: null, nodeFaults: [] }
    : {
        finality: await readChainFinality(db, chainId),
        history: await readHistoryState(db, chainId),
        nodeFaults: await readNodeFaults(db, chainId),
      };

/** Hash of a block without events, which the log does not hold: the chain's; null: no node answers. */
async function hashOf(number: number, head: Head | null, readHash: ChainSource["readHash"]) {
  if (head?.number === number) return head.hash;
  return (await readHash(number)) ?? null;
}

/** Remembers earlier observations, to know how long a fault has lasted. */
function openChainCheck(chainId: number, lateSeconds: number) {
  const indexer = trackFollower(closeEnoughBlocks);
  const rpc = trackFollower(closeEnoughBlocks);
  let lastSeenAt: number | undefined;

  return ({ head, faults }: HeadReading, blocks: IndexedBlocks | null, now: number) => {
    if (head === null) {
      return [noAnswer(chainId, faults, lastSeenAt === undefined ? undefined : now - lastSeenAt)];
    }
    lastSeenAt = now;
    if (blocks === null) return [];
    const reached = blocks.indexed.number;
    const failing = lateIndexer(chainId, indexer(head.number, reached, now), lateSeconds);
    const back = rpc(reached, head.number, now);
    if (back.seconds > lateSeconds) failing.push(headBehindIndexer(chainId, head, reached, back));
    return failing;
  };
}

/** An indexer that is behind, with what its reader of the chain waits for. */
function explained(failing: FailingPart[], faults: readonly NodeFault[]): FailingPart[] {
  const reasons = faults.map(describeNodeFault);
  const hosts = faults.flatMap((fault) => fault.hosts);
  return failing.map((one) =>
    one.part.endsWith(" indexer") && reasons.length > 0
      ? { ...one, message: `${one.message} (${reasons.join("; ")})`, endpoints: hosts }
      : one,
  );
}

const warningOf = (chainId: number, fault: NodeFault): ReadingFault => ({
  part: `chain ${chainId} indexer`,
  kind: "chain_reading",
  message: describeNodeFault(fault),
  endpoints: fault.hosts,
});

function notIndexed(
  chainId: number,
  db: Database | null,
  blocks: IndexedBlocks | null,
): FailingPart[] {
  if (db === null || blocks !== null) return [];
  return [{ part: `chain ${chainId} indexer`, message: "has indexed nothing yet" }];
}

function noAnswer(chainId: number, faults: HeadReading["faults"], silentMs: number | undefined) {
  const message = faults.map((fault) => fault.message).join("; ") || "no RPC is configured";
  const named = {
    part: `chain ${chainId} RPC`,
    message,
    endpoints: faults.map(({ endpoint }) => endpoint),
  };
  return silentMs === undefined ? named : { ...named, behind: { seconds: silentMs / 1000 } };
}

function lateIndexer(chainId: number, lag: Lag, lateSeconds: number): FailingPart[] {
  if (lag.caughtUp && lag.seconds <= lateSeconds) return [];
  const message = lag.caughtUp ? "does not follow the chain" : "is catching up";
  const behind = { blocks: lag.behind, seconds: lag.seconds };
  return [
    {
      part: `chain ${chainId} indexer`,
      message: `${message}: ${lag.behind} blocks behind`,
      behind,
    },
  ];
}

function headBehindIndexer(chainId: number, head: Head, reached: number, back: Lag): FailingPart {
  const message = `reports block ${head.number} as the head, but block ${reached} is already indexed`;
  const behind = { blocks: back.behind, seconds: back.seconds };
  return { part: `chain ${chainId} RPC`, message, behind };
}

/** What the indexer holds for final, as far as the chain says so too. */
const presentFinal = ({ finalized }: IndexedBlocks, finality: ChainFinality | null) => ({
  number: Math.min(finalized.number, finality?.number ?? finalized.number),
  saidBy: finality?.saidBy ?? null,
});

function present(
  chainId: number,
  head: Head | null,
  blocks: (IndexedBlocks & { hash: string | null }) | null,
  {
    recorded,
    states,
    history,
    finality,
  }: Pick<ChainStatus, "history"> & {
    finality: ChainFinality | null;
    recorded: RecordedHead | null;
    states: ChainStatus["indexers"];
  },
): ChainStatus {
  const indexed = blocks && { ...blocks.indexed, hash: blocks.hash };
  const known = head !== null && indexed !== null;
  const lagBlocks = known ? Math.max(0, head.number - indexed.number) : null;
  const lagSeconds = known ? Math.max(0, head.timestamp - indexed.timestamp) : null;
  return {
    chainId,
    head,
    indexed,
    recorded: recorded?.recorded ?? null,
    finalized: blocks && presentFinal(blocks, finality),
    lagBlocks,
    lagSeconds: lagBlocks === 0 ? 0 : lagSeconds,
    indexers: states,
    history,
  };
}

/**
 * Checks the indexers of a chain's added sources. One on its first pass is a warning; one that has caught up and does not
 * follow the chain any more is a fault. The core one is checked with the chain.
 */
function openIndexerStatus(chainId: number, lateSeconds: number) {
  const followers = new Map<string, TrackedFollower>();
  const lagOf = (indexer: string, head: number, indexed: number, now: number) => {
    const follower = followers.get(indexer) ?? trackFollower(closeEnoughBlocks);
    followers.set(indexer, follower);
    return follower(head, indexed, now);
  };
  return async (
    db: Database | null,
    head: number | null,
    now: number,
  ): Promise<Findings<IndexerState[]>> => {
    const status = db === null ? [] : await readIndexerStates(db, chainId, head);
    const added = status.filter(({ indexer }) => indexer !== coreIndexer);
    const failing = added.flatMap(({ indexer, state, indexed }): FailingPart[] => {
      if (state === "catching_up" || head === null || indexed === null) return [];
      const { behind, seconds } = lagOf(indexer, head, indexed, now);
      if (seconds <= lateSeconds) return [];
      const message = `does not follow the chain: ${behind} blocks behind`;
      return [{ part: partOf(chainId, indexer), message, behind: { blocks: behind, seconds } }];
    });
    const warnings = added.flatMap((one) =>
      one.state === "catching_up" ? [catchingUpWarning(chainId, one)] : [],
    );
    return { status, failing, warnings };
  };
}

const partOf = (chainId: number, indexer: string): string => `chain ${chainId} indexer ${indexer}`;

function catchingUpWarning(
  chainId: number,
  { indexer, remainingBlocks: blocks, remainingSeconds: seconds }: IndexerState,
): CatchingUp {
  const message = blocks === null ? "is starting" : `is catching up: ${blocks} blocks remain`;
  const remaining = blocks === null ? null : { blocks, seconds };
  return { part: partOf(chainId, indexer), kind: "catching_up", message, remaining };
}

/** One observation of a chain; null: unknown. */
type ChainSnapshot = {
  head: Head | null;
  newest: NewestEvent | null;
  recorded: RecordedHead["recorded"];
};

type Options = {
  chainId: number;
  readHash: (number: number) => Promise<string | null | undefined>;
  lateSeconds: MaxLagSeconds;
};

/** Checks the committed log against the events in Ponder's tables and the chain's own blocks. */
function openLogCheck({ chainId, readHash, lateSeconds }: Options) {
  const recorder = trackFollower(closeEnoughBlocks);
  let divergedAt: number | undefined;

  const checkRecorder = ({ newest, recorded }: ChainSnapshot, now: number): FailingPart[] => {
    if (newest === null) return [];
    const reached = Math.min(recorded?.number ?? -1, newest.number - 1);
    const lag = recorder(newest.number, newest.isRecorded ? newest.number : reached, now);
    if (lag.caughtUp && lag.seconds <= lateSeconds.recorder) return [];
    const message = lag.caughtUp ? "does not follow the indexer" : "is catching up";
    const behind = { blocks: lag.behind, seconds: lag.seconds };
    return [{ part: `chain ${chainId} log`, message, behind }];
  };

  const checkBranch = async (
    { head, recorded }: ChainSnapshot,
    now: number,
  ): Promise<FailingPart[]> => {
    if (head === null || recorded === null || recorded.number > head.number) return [];
    const hash = await readHash(recorded.number);
    if (hash === null || hash === undefined) return [];
    if (hash === recorded.hash) divergedAt = undefined;
    else divergedAt ??= now;
    if (divergedAt === undefined) return [];
    const seconds = (now - divergedAt) / 1000;
    if (seconds <= lateSeconds.branch) return [];
    const message =
      `holds block ${recorded.number} with hash ${recorded.hash}, the chain has ${hash}: a reorg went below the block ` +
      `that the indexer considers final. Run \`npm run op -- recover --chain ${chainId}\``;
    return [{ part: `chain ${chainId} branch`, message, behind: { seconds } }];
  };

  return async (look: ChainSnapshot, now: number): Promise<FailingPart[]> => [
    ...checkRecorder(look, now),
    ...(await checkBranch(look, now)),
  ];
}

import { setTimeout as delay } from "node:timers/promises";
import { type DataVersion, inSnapshot, type Snapshot } from "#projections/engine/snapshot.ts";
import { DatabaseUnavailable, isConflict } from "#projections/log/database-failure.ts";
import type { LoadClass } from "../concurrency.ts";
import { describeSnapshot, type SnapshotFacts } from "./cache.ts";
import { PositionNotReached } from "./position.ts";
import type { ReadSource } from "./target.ts";

/** What a read asks for. */
type Wanted = {
  readonly loadClass: LoadClass;
  /** Facts up to this position must be in what it reads; 0: whatever is there. */
  readonly atLeast: bigint;
  /** Called when the snapshot is about to be taken. */
  readonly onBegin?: () => void;
  /** Whether statements are planned once, for any values. */
  readonly plansOnce?: boolean | undefined;
};

export type PositionedSnapshot = Snapshot & { readonly facts: SnapshotFacts };

/** Reads of projections, each in one snapshot, of the primary or of a replica. */
export type PositionedReads = {
  /** Throws `PositionNotReached` when no database is there in time. */
  inSnapshot<Result>(
    wanted: Wanted,
    read: (snapshot: PositionedSnapshot) => Promise<Result>,
  ): Promise<Result>;
  /** The version of the data that a snapshot would have now; shared by concurrent callers. */
  readVersion(): Promise<DataVersion>;
  /** The primary, for who writes and for what must see it. */
  readonly primary: ReadSource;
  /** Waits until the primary has reached a position. */
  reachOnPrimary(atLeast: bigint): Promise<void>;
  /** Reads that have reached it see what a request to the primary has written and been told. */
  readPrimaryPosition(): Promise<bigint>;
};

export type PositionedReadsOptions = {
  readonly primary: ReadSource;
  readonly projections: readonly string[];
  /** The database for the next read; default: the primary. */
  readonly choose?: (atLeast: bigint) => ReadSource;
  /** A replica failed a read, which the primary then answers. */
  readonly onFailure?: (target: ReadSource, error: unknown) => void;
  /** How long a read took that had to wait for its position, and what answered it. */
  readonly onWait?: (ms: number, outcome: WaitOutcome) => void;
  /** The highest position that this process has appended, once it was waited for. */
  readonly written?: () => bigint;
};

export type WaitOutcome = "reached" | "primary" | "not_reached";

/** How long a read waits for a database that is behind. */
const maxWaitMs = 250;
const pollMs = 10;

export function openPositionedReads(options: PositionedReadsOptions): PositionedReads {
  const { primary, projections, choose = () => primary, onFailure, onWait } = options;
  const { written = () => 0n } = options;
  const owner = {};

  /** Undefined: the target is behind. */
  const tryOnce = <Result>(
    target: ReadSource,
    { loadClass, atLeast, onBegin, plansOnce }: Wanted,
    read: (snapshot: PositionedSnapshot) => Promise<Result>,
  ) =>
    inSnapshot(
      target.dbOf(loadClass),
      { projections, onBegin, plansOnce },
      async (snapshot): Promise<{ result: Result } | { behind: bigint }> => {
        const { db, version, position } = snapshot;
        if (position < atLeast) return { behind: position };
        const facts: SnapshotFacts = { owner, atLeast, version, position, answered: position };
        describeSnapshot(db, facts);
        return { result: await read({ ...snapshot, facts }) };
      },
    );

  /** Behind an address may be several servers: what one has reached another may not. */
  const tryUntil = async <Tried extends object>(
    wait: Wait,
    target: ReadSource,
    attempt: () => Promise<Tried>,
  ): Promise<Tried> => {
    for (;;) {
      await reach(target, wait);
      const tried = await attempt();
      if ("result" in tried || wait.isOver()) return tried;
    }
  };

  const readOn = async <Result>(
    target: ReadSource,
    wanted: Wanted,
    read: (snapshot: PositionedSnapshot) => Promise<Result>,
  ): Promise<Result> => {
    const startedAt = performance.now();
    const first = await tryOnce(target, wanted, read);
    if ("result" in first) return first.result;
    const wait = openWait(primary, wanted.atLeast, startedAt);
    let tried = await tryUntil(wait, target, () => tryOnce(target, wanted, read));
    if ("behind" in tried && wait.isBeyondLog()) {
      throw new PositionNotReached(wanted.atLeast, tried.behind);
    }
    let outcome: WaitOutcome = "reached";
    if ("behind" in tried && target !== primary) {
      outcome = "primary";
      tried = await tryOnce(primary, wanted, read);
    }
    if ("behind" in tried) outcome = "not_reached";
    onWait?.(performance.now() - startedAt, outcome);
    if ("result" in tried) return tried.result;
    throw new PositionNotReached(wanted.atLeast, tried.behind);
  };

  return {
    primary,
    readVersion: () => choose(0n).readVersion(),
    async inSnapshot(wanted, read) {
      const target = choose(wanted.atLeast);
      if (target === primary) return readOn(primary, wanted, read);
      try {
        return await readOn(target, wanted, read);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable || isConflict(error))) throw error;
        onFailure?.(target, error);
        return readOn(primary, wanted, read);
      }
    },
    async reachOnPrimary(atLeast) {
      if (atLeast === 0n) return;
      const { position } = await primary.readVersion();
      if (position >= atLeast) return;
      const reached = await reach(primary, openWait(primary, atLeast, performance.now()));
      if (reached < atLeast) throw new PositionNotReached(atLeast, reached);
    },
    async readPrimaryPosition() {
      const { position } = await primary.readVersion();
      const appended = written();
      return appended > position ? appended : position;
    },
  };
}

type Wait = {
  readonly atLeast: bigint;
  /** Whether no read may be waited for any longer. */
  isOver(): boolean;
  /** Whether the log has no such position, so that no answer had it and waiting is of no use. */
  isBeyondLog(): boolean;
};

/** While the head is read, and when that fails, the position is waited for like one of the log. */
function openWait(primary: ReadSource, atLeast: bigint, startedAt: number): Wait {
  const deadline = startedAt + maxWaitMs;
  let isBeyondLog = false;
  primary.readHead().then(
    (head) => {
      isBeyondLog = atLeast > head;
    },
    () => {},
  );
  return {
    atLeast,
    isOver: () => isBeyondLog || performance.now() >= deadline,
    isBeyondLog: () => isBeyondLog,
  };
}

/** Polls until a database has reached a position, or the wait is over. Returns where it is. */
async function reach(target: ReadSource, { atLeast, isOver }: Wait): Promise<bigint> {
  for (;;) {
    const { position } = await target.readVersion();
    if (position >= atLeast || isOver()) return position;
    await delay(pollMs);
  }
}

import { withinMs } from "#jobs/runner/limits.ts";
import type { DataVersion } from "#projections/engine/snapshot.ts";
import type { ReadSource } from "./target.ts";

type Replica = { readonly target: ReadSource; readonly weight: number };

/** How a replica is, as of the last look at it. */
export type ReplicaState = {
  readonly name: string;
  /** Whether it is read from. */
  readonly isUsed: boolean;
  readonly isReachable: boolean;
  readonly position: bigint | null;
  /** Seconds since the primary was first seen ahead of it; null: not known. */
  readonly lagSeconds: number | null;
};

export type Replicas = {
  /** The database for the next read: a replica that is well, else the primary. */
  choose(atLeast: bigint): ReadSource;
  /** Leaves a replica at once, until it is well again. */
  leave(target: ReadSource): void;
  states(): readonly ReplicaState[];
  /** Looks at all of them; also done regularly. */
  look(): Promise<void>;
  stop(): void;
};

type ReplicasOptions = {
  readonly primary: ReadSource;
  readonly replicas: readonly Replica[];
  /** One further behind than this is left. */
  readonly maxLagSeconds: number;
  readonly onChange: (state: ReplicaState) => void;
  readonly nowMs?: () => number;
  readonly random?: () => number;
};

const lookMs = 500;
const answerMs = 2_000;
/** Good looks in a row before a replica is read from again. */
const looksToReturn = 2;
/** A replica that is further behind does not get there while a read waits. */
const hopelessLagSeconds = 0.25;

type Known = { -readonly [Name in keyof ReplicaState]: ReplicaState[Name] } & {
  goodLooks: number;
};

/** Follows replicas: one that does not answer or is too far behind is left, and taken back when it is well. */
export function openReplicas(options: ReplicasOptions): Replicas {
  const { primary, replicas, maxLagSeconds, onChange, random = Math.random } = options;
  const { nowMs = () => performance.now() } = options;
  const lagClock = openLagClock();
  const known = new Map(replicas.map(({ target }) => [target, unknownState(target.name)]));

  const setUsed = (state: Known, isUsed: boolean) => {
    if (state.isUsed === isUsed) return;
    state.isUsed = isUsed;
    onChange({ ...state });
  };
  const note = (state: Known, seen: DataVersion | undefined) => {
    state.isReachable = seen !== undefined;
    state.position = seen?.position ?? state.position;
    state.lagSeconds = seen === undefined ? null : lagClock.lagSeconds(seen.position, nowMs());
    const limit = state.isUsed ? maxLagSeconds : maxLagSeconds / 2;
    const isWell = state.lagSeconds !== null && state.lagSeconds <= limit;
    state.goodLooks = isWell ? state.goodLooks + 1 : 0;
    if (!isWell) setUsed(state, false);
    else if (state.goodLooks >= looksToReturn) setUsed(state, true);
  };
  const lookAll = async () => {
    const seen = await readOrGiveUp(primary);
    if (seen !== undefined) lagClock.note(seen.position, nowMs());
    await Promise.all(
      [...known].map(async ([target, state]) => note(state, await readOrGiveUp(target))),
    );
  };
  let looking: Promise<void> | undefined;
  const look = () => {
    looking ??= lookAll().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const timer = setInterval(() => void look(), lookMs);
  void look();

  return {
    choose(atLeast) {
      const usable = replicas.filter(({ target }) => known.get(target)?.isUsed === true);
      const isThere = ({ target }: Replica) => (known.get(target)?.position ?? 0n) >= atLeast;
      const mayGetThere = ({ target }: Replica) =>
        (known.get(target)?.lagSeconds ?? 0) < hopelessLagSeconds;
      const there = usable.filter(isThere);
      const candidates = there.length > 0 ? there : usable.filter(mayGetThere);
      return drawByWeight(candidates, random())?.target ?? primary;
    },
    leave(target) {
      const state = known.get(target);
      if (state === undefined) return;
      state.goodLooks = 0;
      setUsed(state, false);
    },
    states: () => [...known.values()].map(({ goodLooks: _, ...state }) => state),
    look,
    stop: () => clearInterval(timer),
  };
}

const unknownState = (name: string): Known => ({
  name,
  isUsed: false,
  isReachable: false,
  position: null,
  lagSeconds: null,
  // The first good look is enough at the start.
  goodLooks: looksToReturn - 1,
});

function drawByWeight(replicas: readonly Replica[], drawn: number): Replica | undefined {
  const sum = replicas.reduce((total, { weight }) => total + weight, 0);
  let left = drawn * sum;
  return replicas.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
}

/** Undefined: it fails, or does not answer in time. */
async function readOrGiveUp(target: ReadSource): Promise<DataVersion | undefined> {
  const read = target.readVersion().catch(() => undefined);
  return await withinMs(answerMs, read, () => undefined);
}

/** When the primary was where, to tell how old a replica's data is. */
type LagClock = {
  note(position: bigint, atMs: number): void;
  /** Seconds since the primary was first seen behind this position; 0: nothing is missing. */
  lagSeconds(position: bigint, atMs: number): number;
};

/** Ten minutes at two looks a second: an older lag is shown as that old at least. */
const mostSamples = 1_200;

function openLagClock(): LagClock {
  const samples: { position: bigint; atMs: number }[] = [];
  return {
    note(position, atMs) {
      const last = samples.at(-1);
      if (last !== undefined && last.position === position) return;
      // After a failover the primary may have less than the one before.
      while ((samples.at(-1)?.position ?? position) > position) samples.pop();
      samples.push({ position, atMs });
      if (samples.length > mostSamples) samples.shift();
    },
    lagSeconds(position, atMs) {
      const ahead = samples.find((sample) => sample.position > position);
      return ahead === undefined ? 0 : Math.max(0, atMs - ahead.atMs) / 1_000;
    },
  };
}

/** How far something is behind what it follows. */
export type Lag = {
  readonly behind: number;
  /** For how long it has missed the oldest step it misses. */
  readonly seconds: number;
  /** Whether it was ever close enough. */
  readonly caughtUp: boolean;
};

export type Follower = (target: number, reached: number, now: number) => Lag;

/**
 * Tells how late a follower is from what was seen of its target: a target that stands still never makes it late,
 * whatever the age of its last step. `now` is in milliseconds.
 */
export function trackFollower(closeEnough: number): Follower {
  let missed: { target: number; seenAt: number }[] = [];
  let caughtUp = false;
  return (target, reached, now) => {
    // A target that went back (a reorg, another RPC) keeps the time at which it was missed first.
    missed = missed
      .filter((one) => one.target > reached)
      .map((one) => ({ ...one, target: Math.min(one.target, target) }))
      .filter((one, index, all) => one.target > reached && one.target !== all[index - 1]?.target);
    if (target > reached && (missed.at(-1)?.target ?? -1) < target) {
      missed.push({ target, seenAt: now });
    }
    if (missed.length > 1000) missed = missed.filter((_, index) => index % 2 === 0);
    const behind = Math.max(0, target - reached);
    caughtUp ||= behind <= closeEnough;
    const [oldest] = missed;
    const seconds = oldest === undefined ? 0 : Math.max(0, now - oldest.seenAt) / 1000;
    return { behind, seconds, caughtUp };
  };
}

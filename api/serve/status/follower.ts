/** How far something is behind what it follows. */
export type Lag = {
  readonly behind: number;
  /** Seconds since the oldest step that it has not reached was seen. */
  readonly seconds: number;
  /** Whether it was ever within `closeEnough`. */
  readonly caughtUp: boolean;
};

export type Follower = (target: number, reached: number, now: number) => Lag;

/**
 * Measures how late a follower is from observations of its target: a target that does not move never makes it late,
 * however old its last step is. `now` is in milliseconds.
 */
export function trackFollower(closeEnough: number): Follower {
  let missed: { target: number; seenAt: number }[] = [];
  let caughtUp = false;
  return (target, reached, now) => {
    // A target that moved back (a reorg, another node) keeps the time at which it was first missed.
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

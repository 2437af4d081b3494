import type { HistoryOptions } from "./history.ts";
import type { Random } from "./random.ts";

/** How much a run does: many do little, some much. */
export type Size = HistoryOptions & {
  /** Chance that an attempt at something is given a fault. */
  faults: number;
};

export function drawSize(random: Random): Size {
  const few = () => random.int(1, 3);
  const some = () => random.int(4, 6);
  const many = () => random.int(7, 12);
  return {
    turns: random.pick([few, few, few, few, few, some, some, some, some, many])(),
    reorgDepth: random.pick([6, 100, 500, 500, 500]),
    faults: random.pick([0.1, 0.2, 0.5]),
  };
}

import type { Observation } from "#projections/log/append.ts";
import type { Block, ChainEvent } from "../support/database/given.ts";
import type { History, Mined, Turn } from "./history.ts";
import type { Random } from "./random.ts";

/** One call of the log. */
export type Step =
  | { does: "append"; events: ChainEvent[]; isLate?: true }
  | { does: "block_retracted" | "block_readopted"; blocks: Block[] }
  | { does: "observe"; observations: Observation[] };

/** As somebody watching the chains records it: some pieces come late, some twice, retractions before or after. */
export function orderedSteps(random: Random, history: History): Step[] {
  const steps: Step[] = [];
  const late: Step[] = [];
  for (const turn of history.turns) {
    for (const step of stepsOf(random, turn)) {
      if (step.does === "append" && random.chance(0.15)) late.push({ ...step, isLate: true });
      else steps.push(step);
    }
    if (late.length > 0 && random.chance(0.2))
      steps.push(...late.splice(random.int(0, late.length - 1)));
    if (random.chance(0.1)) steps.push(...again(random, steps));
  }
  return [...steps, ...random.shuffle(late), ...finalBlockStates(history)];
}

/** The same history out of order: pieces in any order, blocks dropped and brought back at will. */
export function shuffledSteps(random: Random, history: History): Step[] {
  const observed: Step[] = [];
  const rest: Step[] = history.all.flatMap((mined) => pieces(random, mined));
  for (const turn of history.turns) if (turn.does === "observe") observed.push(turn);
  for (let flips = random.int(0, 8); flips > 0; flips -= 1) {
    const does = random.pick(["block_retracted", "block_readopted"] as const);
    rest.push({ does, blocks: someOf(random, history.all) });
  }
  const steps = random.shuffle(rest);
  // People's decisions are in the order in which they were made: that order is part of what they say.
  const places = observed.map(() => random.int(0, steps.length)).sort((one, other) => other - one);
  for (const place of places) {
    const last = observed.pop();
    if (last !== undefined) steps.splice(place, 0, last);
  }
  return [...steps, ...finalBlockStates(history)];
}

function stepsOf(random: Random, turn: Turn): Step[] {
  if (turn.does === "observe") return [turn];
  const appended = turn.mined.flatMap((mined) => pieces(random, mined));
  if (turn.does === "mine") return appended;
  const states: Step[] = [
    { does: "block_retracted", blocks: turn.dropped },
    { does: "block_readopted", blocks: turn.returning },
  ];
  return random.chance(0.7) ? [...states, ...appended] : random.shuffle([...states, ...appended]);
}

/** A block's events in calls of their own, cut anywhere; now and then once more all together. */
function pieces(random: Random, { events }: Mined): Step[] {
  const steps: Step[] = [];
  for (let start = 0; start < events.length; ) {
    const end = random.chance(0.7) ? events.length : start + random.int(1, events.length - start);
    steps.push({ does: "append", events: events.slice(start, end) });
    start = end;
  }
  if (events.length > 0 && random.chance(0.2)) steps.push({ does: "append", events });
  return steps;
}

function again(random: Random, steps: readonly Step[]): Step[] {
  const appended = steps.filter((step) => step.does === "append");
  return appended.length === 0 ? [] : [random.pick(appended)];
}

function someOf(random: Random, mined: readonly Mined[]): Block[] {
  return random.shuffle(mined).slice(0, random.int(1, 4));
}

/** The chains' last word on every block. */
function finalBlockStates({ all, canonical }: History): Step[] {
  return [
    { does: "block_retracted", blocks: all.filter((mined) => !canonical.has(mined)) },
    { does: "block_readopted", blocks: [...canonical] },
  ];
}

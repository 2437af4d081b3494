import { ownershipProjection } from "../../projections/ownership/project.ts";
import { project } from "../support/database/given.ts";
import { difference, readContents } from "./contents.ts";
import { type History, makeHistory } from "./history.ts";
import { begin, recover, settled } from "./illness.ts";
import { foldOwnership } from "./owners.ts";
import { brokenLaws, play } from "./play.ts";
import { type Random, randomFrom } from "./random.ts";
import { note, noteHistory, type Reached } from "./reached.ts";
import { asShuffled, asWatched, type Step } from "./script.ts";
import { drawSize, type Size } from "./sizes.ts";
import {
  compareInBulk,
  compareInOneWindow,
  compareStages,
  emptyStage,
  placeOf,
  type Stage,
} from "./stage.ts";

/** Chance that tables are derived in bulk in the middle of the log. */
const halfWay = 0.1;

type Stages = readonly [watched: Stage, shuffled: Stage];

/**
 * One random history, recorded and folded twice: as it was watched, and out of order. Both states must equal each other
 * and owners folded one event after the other; each projection's also a rebuild, in bulk from one log or in one window
 * from the other. Returns what does not hold, in words. What the stages hold is dropped.
 */
export async function simulate(seed: number, stages: Stages, reached: Reached): Promise<string[]> {
  const random = randomFrom(seed);
  const size = drawSize(random);
  const history = makeHistory(random, size);
  noteHistory(reached, history);
  const [first, second] = stages;
  const watch = asWatched(random, history);
  note(reached, "late pieces", watch.filter((step) => "isLate" in step).length);
  const [watched, shuffled] = await Promise.all([
    record(first, watch, { random: random.fork(), size, reached }).catch(said),
    record(second, asShuffled(random, history), { random: random.fork(), size, reached }).catch(
      said,
    ),
  ]);
  return [
    ...watched.map((law) => `as watched: ${law}`),
    ...shuffled.map((law) => `out of order: ${law}`),
    ...(await compareStages(first, second)),
    ...(await compareOwners(first, history)),
    ...(await compareRebuilt(random, stages, reached)),
  ];
}

/** Nobody goes on to the next run while the other half of this one is still at it. */
const said = (error: unknown) => [String(error)];

type Recording = { random: Random; size: Size; reached: Reached };

async function record(
  stage: Stage,
  steps: readonly Step[],
  { random, size, reached }: Recording,
): Promise<string[]> {
  const { faulty, targets, illness, projections } = stage;
  await emptyStage(stage);
  begin(illness, random);
  const survivor = faulty.survivor(random, size.faults, reached);
  const player = { ...survivor, faulty, targets, illness, random, reached };
  const half = Math.floor(steps.length / 2);
  const broken = await play(player, steps.slice(0, half));
  if (random.chance(halfWay)) {
    note(reached, "derived in bulk half way");
    broken.push(...(await compareInBulk(stage, await settled(stage.db, projections))));
  }
  broken.push(...(await play(player, steps.slice(half))));
  await recover(player);
  await project(faulty.projector, targets);
  broken.push(...(await brokenLaws(faulty.db, steps)));
  return broken;
}

async function compareOwners(stage: Stage, { canonical }: History): Promise<string[]> {
  const found = difference(
    await readContents(placeOf(stage, ownershipProjection)),
    foldOwnership(canonical),
  );
  return found === null ? [] : [`ownership and a plain fold differ:\n${found}`];
}

/** What a projection is rebuilt from does not matter once the two logs end in one state. */
async function compareRebuilt(random: Random, stages: Stages, reached: Reached): Promise<string[]> {
  const [one = stages[0], other = stages[1]] = random.shuffle(stages);
  const inBulk = one.projections.filter(() => random.chance(0.5)).map(({ name }) => name);
  note(reached, "projections rebuilt in bulk", inBulk.length);
  const broken = await Promise.all([
    compareInBulk(
      one,
      one.projections.filter(({ name }) => inBulk.includes(name)),
    ),
    compareInOneWindow(
      other,
      other.projections.filter(({ name }) => !inBulk.includes(name)),
    ),
  ]);
  return broken.flat();
}

import { sql } from "kysely";
import { ownershipProjection } from "#projections/tokens/ownership.ts";
import { project } from "../support/database/given.ts";
import { difference, readContents } from "./contents.ts";
import { type Coverage, countEvent, countHistory } from "./coverage.ts";
import { type History, makeHistory } from "./history.ts";
import { applyOwnership } from "./owners.ts";
import { brokenLaws, play } from "./play.ts";
import { drawProgramFault, fixProgram, withUniqueState } from "./program-faults.ts";
import { type Random, randomFrom } from "./random.ts";
import { orderedSteps, type Step, shuffledSteps } from "./script.ts";
import { drawSize, type Size } from "./sizes.ts";
import {
  compareInBulk,
  compareInOneWindow,
  compareStores,
  compareToldBook,
  emptyStore,
  type Store,
  tablesOf,
} from "./store.ts";

/** Chance that tables are derived in bulk in the middle of the log. */
const halfWay = 0.1;

type Stores = readonly [ordered: Store, shuffled: Store];

/**
 * One random history, recorded and projected twice: in order, and shuffled. Both states must equal each other
 * and owners computed one event after the other; each projection's also a rebuild, in bulk from one log or in one window
 * from the other. Returns what does not hold, in words. What the stores hold is dropped.
 */
export async function simulate(
  seed: number,
  stores: Stores,
  coverage: Coverage,
): Promise<string[]> {
  const random = randomFrom(seed);
  const size = drawSize(random);
  const history = makeHistory(random, size);
  countHistory(coverage, history);
  const [first, second] = stores;
  const watch = orderedSteps(random, history);
  countEvent(coverage, "late pieces", watch.filter((step) => "isLate" in step).length);
  const [watched, shuffled] = await Promise.all([
    record(first, watch, { random: random.fork(), size, coverage }).catch(said),
    record(second, shuffledSteps(random, history), { random: random.fork(), size, coverage }).catch(
      said,
    ),
  ]);
  await countSales(first, coverage);
  return [
    ...watched.map((law) => `as watched: ${law}`),
    ...shuffled.map((law) => `out of order: ${law}`),
    ...(await compareStores(first, second)),
    ...(await compareOwners(first, history)),
    ...(await compareRebuilt(random, stores, coverage)),
  ];
}

/** Sales and unresolved events at the end, by protocol. */
async function countSales({ db }: Store, coverage: Coverage): Promise<void> {
  const { rows } = await sql<{ what: string; times: number }>`
    select 'sale: ' || protocol as what, count(*)::int as times from sales.sale group by 1
    union all
    select 'unresolved: ' || protocol || ' ' || reason, count(*)::int from sales.unresolved_event group by 1`.execute(
    db,
  );
  for (const { what, times } of rows) countEvent(coverage, what, times);
}

/** Nobody goes on to the next run while the other half of this one is still at it. */
const said = (error: unknown) => [String(error)];

type Recording = { random: Random; size: Size; coverage: Coverage };

async function record(
  store: Store,
  steps: readonly Step[],
  { random, size, coverage }: Recording,
): Promise<string[]> {
  const { faulty, targets, programFault, projections } = store;
  await emptyStore(store);
  drawProgramFault(programFault, random);
  const survivor = faulty.survivor(random, size.faults, coverage);
  const context = { ...survivor, faulty, targets, programFault, random, coverage };
  const broken: string[] = [];
  const half = Math.ceil(steps.length / 2);
  broken.push(...(await play(context, steps.slice(0, half))));
  if (random.chance(halfWay)) {
    countEvent(coverage, "derived in bulk half way");
    broken.push(...(await compareInBulk(store, await withUniqueState(store.db, projections))));
  }
  broken.push(...(await play(context, steps.slice(half))));
  await fixProgram(context);
  await project(faulty.projector, targets);
  broken.push(...(await brokenLaws(faulty.db, steps)), ...(await compareToldBook(store)));
  return broken;
}

async function compareOwners(store: Store, { canonical }: History): Promise<string[]> {
  const found = difference(
    await readContents(tablesOf(store, ownershipProjection)),
    applyOwnership(canonical),
  );
  return found === null ? [] : [`ownership and a plain computation differ:\n${found}`];
}

/** What a projection is rebuilt from does not matter once the two logs end in one state. */
async function compareRebuilt(
  random: Random,
  stores: Stores,
  coverage: Coverage,
): Promise<string[]> {
  const [one = stores[0], other = stores[1]] = random.shuffle(stores);
  const inBulk = one.projections.filter(() => random.chance(0.5)).map(({ name }) => name);
  countEvent(coverage, "projections rebuilt in bulk", inBulk.length);
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

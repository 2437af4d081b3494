import { sql } from "kysely";
import { allProjections } from "../../projections/all.ts";
import { dropTarget, readCheckpoints } from "../../projections/engine/checkpoint.ts";
import type { Projection } from "../../projections/engine/projection.ts";
import { createProjection, project } from "../given.ts";
import { type Contents, difference, readContents } from "./contents.ts";
import { feeRecipient } from "./events.ts";
import { type FaultyDatabase, openFaulty } from "./faults.ts";
import { type HistoryOptions, makeHistory } from "./history.ts";
import { foldOwnership } from "./owners.ts";
import { play } from "./play.ts";
import { type Random, randomFrom } from "./random.ts";
import { asShuffled, asWatched, type Step } from "./script.ts";

/** Longer than any log of a simulation. */
const EVERYTHING = 1_000_000_000;

/**
 * One random history, recorded and folded twice: as it was watched, and out of order. Both states must equal each
 * other, a rebuild from nothing, and owners folded one event after the other. Returns what does not hold, in words.
 * The databases are migrated; what they hold is dropped.
 */
export async function simulate(
  seed: number,
  options: HistoryOptions,
  urls: readonly [string, string],
): Promise<string[]> {
  const random = randomFrom(seed);
  const history = makeHistory(random, options);
  const [first, second] = urls;
  const watched = await record(first, asWatched(random, history), random.fork());
  const shuffled = await record(second, asShuffled(random, history), random.fork());
  return [
    ...watched.broken.map((law) => `as watched: ${law}`),
    ...shuffled.broken.map((law) => `out of order: ${law}`),
    ...compare("as watched and rebuilt", watched.state, watched.rebuilt),
    ...compare("out of order and rebuilt", shuffled.state, shuffled.rebuilt),
    ...compare("as watched and out of order", watched.state, shuffled.state),
    ...compare(
      "owners and a plain fold",
      {
        ownership: watched.state.ownership ?? {},
      },
      { ownership: foldOwnership(history.canonical) },
    ),
  ];
}

type State = Record<string, Contents>;

type Recorded = { state: State; rebuilt: State; broken: string[] };

async function record(url: string, steps: readonly Step[], random: Random): Promise<Recorded> {
  const faulty = openFaulty(url);
  try {
    await startOver(faulty);
    const projections = allProjections({ feeRecipient });
    const targets = [];
    for (const one of projections) targets.push(await createProjection(faulty.db, one));
    const broken = await play(faulty, targets, steps, random);
    const state = await readStates(faulty, projections, ({ name }) => name);
    for (const one of projections) {
      await project(faulty.db, [await createProjection(faulty.db, one, beside(one))], EVERYTHING);
    }
    return { state, rebuilt: await readStates(faulty, projections, beside), broken };
  } finally {
    await faulty.close();
  }
}

const beside = ({ name }: Projection) => `${name}_beside`;

async function readStates(
  { db }: FaultyDatabase,
  projections: readonly Projection[],
  schemaOf: (projection: Projection) => string,
): Promise<State> {
  const state: State = {};
  for (const one of projections) state[one.name] = await readContents(db, schemaOf(one));
  return state;
}

async function startOver({ db }: FaultyDatabase): Promise<void> {
  for (const schema of (await readCheckpoints(db)).keys()) {
    await db.transaction().execute((session) => dropTarget(session, schema));
  }
  await sql`truncate log.fact, log.block, log.transaction, log.contract`.execute(db);
  await sql`update log.head set position = 0`.execute(db);
}

function compare(what: string, one: State, other: State): string[] {
  return Object.keys(one).flatMap((projection) => {
    const found = difference(one[projection] ?? {}, other[projection] ?? {});
    return found === null ? [] : [`${projection} differs, ${what}:\n${found}`];
  });
}

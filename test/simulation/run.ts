import { sql } from "kysely";
import { allProjections } from "../../projections/all.ts";
import type { Database } from "../../projections/database.ts";
import { deriveInBulk } from "../../projections/engine/bulk.ts";
import { dropTarget, readCheckpoints, type Target } from "../../projections/engine/checkpoint.ts";
import type { Projection } from "../../projections/engine/projection.ts";
import { createProjection, project } from "../given.ts";
import { type Contents, difference, readContents } from "./contents.ts";
import { feeRecipient } from "./events.ts";
import { openFaulty } from "./faults.ts";
import { type HistoryOptions, makeHistory } from "./history.ts";
import { foldOwnership } from "./owners.ts";
import { brokenLaws, play } from "./play.ts";
import { type Random, randomFrom } from "./random.ts";
import { asShuffled, asWatched, type Step } from "./script.ts";

/** Facts in a window that takes all of a simulation's log. */
const EVERYTHING = 1_000_000_000;

/**
 * One random history, recorded and folded twice: as it was watched, and out of order. Both states must equal each
 * other, a rebuild from nothing, one in bulk, and owners folded one event after the other. Returns what does not hold, in words.
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
  const [watched, shuffled] = await Promise.all([
    record(first, asWatched(random, history), random.fork()),
    record(second, asShuffled(random, history), random.fork()),
  ]);
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
  const { db } = faulty;
  try {
    await startOver(db);
    const projections = allProjections({ feeRecipient });
    const targets = await createAll(db, projections, ({ name }) => name);
    const half = Math.floor(steps.length / 2);
    const broken = await play(faulty, targets, steps.slice(0, half), random);
    broken.push(...(await compareInBulk(db, projections)));
    broken.push(...(await play(faulty, targets, steps.slice(half), random)));
    await project(db, targets);
    broken.push(...(await brokenLaws(db, steps)), ...(await compareInBulk(db, projections)));

    const besides = await createAll(db, projections, beside);
    for (const target of besides) await project(db, [target], EVERYTHING);
    const state = await readStates(db, projections, ({ name }) => name);
    return { state, rebuilt: await readStates(db, projections, beside), broken };
  } finally {
    await faulty.close();
  }
}

/** The tables as they stand, in the middle of the log or at its end, against the same derived in bulk. */
async function compareInBulk(db: Database, projections: readonly Projection[]): Promise<string[]> {
  const checkpoints = await readCheckpoints(db);
  const position = checkpoints.get("ownership")?.position ?? 0n;
  for (const projection of projections) {
    const schema = inBulk(projection);
    await db.transaction().execute((session) => dropTarget(session, schema));
    await deriveInBulk(db, { projection, schema }, () => {}, position);
  }
  return compare(
    `step by step and in bulk at ${position}`,
    await readStates(db, projections, ({ name }) => name),
    await readStates(db, projections, inBulk),
  );
}

async function createAll(
  db: Database,
  projections: readonly Projection[],
  schemaOf: (projection: Projection) => string,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const one of projections) targets.push(await createProjection(db, one, schemaOf(one)));
  return targets;
}

const beside = ({ name }: Projection) => `${name}_beside`;
const inBulk = ({ name }: Projection) => `${name}_bulk`;

async function readStates(
  db: Database,
  projections: readonly Projection[],
  schemaOf: (projection: Projection) => string,
): Promise<State> {
  const state: State = {};
  for (const one of projections) state[one.name] = await readContents(db, schemaOf(one));
  return state;
}

async function startOver(db: Database): Promise<void> {
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

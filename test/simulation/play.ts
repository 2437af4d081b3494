import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";
import { readHead, type Target } from "../../projections/engine/checkpoint.ts";
import { tick } from "../../projections/engine/tick.ts";
import { appendObservations } from "../../projections/log/append.ts";
import { appendEvents, setBlocks } from "../given.ts";
import type { FaultyDatabase } from "./faults.ts";
import type { Random } from "./random.ts";
import type { Step } from "./script.ts";

/** Plays steps and ticks in turns, with faults. Returns broken laws. */
export async function play(
  faulty: FaultyDatabase,
  targets: readonly Target[],
  steps: readonly Step[],
  random: Random,
): Promise<string[]> {
  const { db } = faulty;
  const marks: Mark[] = [];
  const broken: string[] = [];
  const waiting = [...steps];
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    const [next] = waiting;
    if (next !== undefined && mayMeet(step, next) && random.chance(0.1)) {
      waiting.shift();
      await Promise.all([carryOut(db, step), carryOut(db, next), tick(db, targets, 5)]);
    } else {
      const now = step;
      await faulty.survive(random, now.does, () => carryOut(db, now));
    }
    if (random.chance(0.3)) {
      const size = random.pick([1, 3, 7, 20, 1_000]);
      await faulty.survive(random, "tick", () => tick(db, targets, size));
    }
    if (random.chance(0.05)) broken.push(...(await race(db, targets, random)));
    if (random.chance(0.1)) marks.push(await mark(db, await readHead(db)));
  }
  for (const { position, hash } of marks) {
    if ((await mark(db, position)).hash !== hash) broken.push(`a row up to ${position} changed`);
  }
  return broken;
}

/** Whether two processes may do this at once: which comes first says nothing. */
function mayMeet(one: Step, other: Step): boolean {
  return (one.does === "append") !== (other.does === "append") || one.does === "append";
}

async function carryOut(db: Database, step: Step): Promise<void> {
  if (step.does === "append") await appendEvents(db, step.events);
  else if (step.does === "observe") await appendObservations(db, step.observations);
  else await setBlocks(db, step.does, step.blocks);
}

/** Two projectors at once: no position is folded by both. */
async function race(db: Database, targets: readonly Target[], random: Random): Promise<string[]> {
  const sizes = [random.int(1, 20), random.int(1, 20)];
  const moved = (await Promise.all(sizes.map((size) => tick(db, targets, size)))).filter(
    (one) => one.outcome === "moved",
  );
  const [one, other] = moved.map(({ window }) => window);
  if (one === undefined || other === undefined) return [];
  const apart = one.upTo <= other.after || other.upTo <= one.after;
  return apart
    ? []
    : [`two ticks moved over one range: ${one.after}–${one.upTo}, ${other.after}–${other.upTo}`];
}

/** The log's rows up to a position, in one number. */
type Mark = { position: bigint; hash: string };

async function mark(db: Database, position: bigint): Promise<Mark> {
  const { rows } = await sql<{ hash: string }>`
    select md5(coalesce(string_agg(f::text, '' order by f.position), '')) as hash
    from log.fact f where f.position <= ${position}`.execute(db);
  return { position, hash: rows[0]?.hash ?? "" };
}

/** What the log holds after all steps, against what they asked for. */
export async function brokenLaws(db: Database, steps: readonly Step[]): Promise<string[]> {
  const broken: string[] = [];
  const log = await measureLog(db);
  if (log.first !== 1n || log.facts !== log.head || log.last !== log.head) {
    const range = `${log.facts} facts from ${log.first} to ${log.last}`;
    broken.push(`positions are not dense: ${range}, head ${log.head}`);
  }
  const events = steps.flatMap((step) => (step.does === "append" ? step.events : []));
  const places = events.map(({ block, logIndex, subIndex }) => {
    return `${block.hash} ${logIndex} ${subIndex ?? 0}`;
  });
  const observed = steps.flatMap((step) => (step.does === "observe" ? step.observations : []));
  const wanted = [new Set(places), new Set(observed.map(({ identity }) => identity))];
  const held = [log.events, log.observations];
  if (wanted.some(({ size }, index) => BigInt(size) !== held[index])) {
    broken.push(
      `the log holds ${held} events and observations of ${wanted.map(({ size }) => size)}`,
    );
  }
  return broken;
}

async function measureLog(db: Database) {
  type Log = Record<"head" | "facts" | "first" | "last" | "events" | "observations", bigint>;
  const { rows } = await sql<Log>`
    select (select position from log.head) as head, count(*) as facts, coalesce(min(position), 1) as first,
           coalesce(max(position), 0) as last, count(*) filter (where log_index is not null) as events,
           count(*) filter (where identity is not null) as observations
    from log.fact`.execute(db);
  const [log] = rows;
  if (log === undefined) throw new Error("an aggregate without a row");
  return log;
}

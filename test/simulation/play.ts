import { sql } from "kysely";
import type { Hex } from "viem";
import { tick } from "#projections/engine/tick.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { appendEvents, setBlocks } from "../support/database/given.ts";
import { countEvent } from "./coverage.ts";
import { breakOrFixProgram, tickOrAdvance } from "./program-faults.ts";
import type { RunContext } from "./run-context.ts";
import type { Step } from "./script.ts";

/** Chance of a restart after a step. */
const restarts = 0.004;

/** Plays steps and ticks in turns, with faults. Returns broken laws. */
export async function play(context: RunContext, steps: readonly Step[]): Promise<string[]> {
  const { random, coverage } = context;
  const { db, projector } = context.faulty;
  const marks: Mark[] = [];
  const broken: string[] = [];
  const waiting = [...steps];
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    const [next] = waiting;
    if (next !== undefined && mayMeet(step, next) && random.chance(0.1)) {
      waiting.shift();
      countEvent(coverage, "appends and a tick at once");
      await Promise.all([
        carryOut(db, step),
        carryOut(db, next),
        tickOrAdvance(context, projector, 5),
      ]);
    } else {
      const now = step;
      await context.survive(now.does, () => carryOut(db, now));
    }
    broken.push(...(await goOn(context)));
    if (random.chance(0.1)) marks.push(await mark(db, await readLogHead(db)));
  }
  for (const { position, hash } of marks) {
    if ((await mark(db, position)).hash !== hash) broken.push(`a row up to ${position} changed`);
  }
  return broken;
}

/** What projectors do between two steps. */
async function goOn(context: RunContext): Promise<string[]> {
  const { faulty, programFault, random, coverage } = context;
  await breakOrFixProgram(context);
  if (random.chance(0.3)) {
    const size = random.pick([1, 3, 7, 20, 1_000]);
    countEvent(coverage, "ticks");
    await context.survive("tick", () => tickOrAdvance(context, faulty.projector, size));
  }
  if (random.chance(restarts)) {
    countEvent(coverage, "restarts");
    await faulty.restart();
  }
  return programFault.of === null && random.chance(0.05) ? await race(context) : [];
}

/**
 * Whether two processes may do this at once, in any order. A block's state is appended for blocks that the
 * log holds, so not while they are appended.
 */
function mayMeet(one: Step, other: Step): boolean {
  if (one.does !== "append" && other.does !== "append") return false;
  const named = blocksOf(one);
  return (
    [one, other].every(({ does }) => !does.startsWith("block")) ||
    !blocksOf(other).some((hash) => named.includes(hash))
  );
}

function blocksOf(step: Step): Hex[] {
  if (step.does === "append") return step.events.map(({ block }) => block.hash);
  return step.does === "observe" ? [] : step.blocks.map(({ hash }) => hash);
}

export async function carryOut(db: Database, step: Step): Promise<void> {
  if (step.does === "append") await appendEvents(db, step.events);
  else if (step.does === "observe") await appendObservations(db, step.observations);
  else await setBlocks(db, step.does, step.blocks);
}

/** Two projectors at once: no position is applied by both. */
async function race({ faulty, targets, random, coverage }: RunContext): Promise<string[]> {
  const sizes = [random.int(1, 20), random.int(1, 20)];
  const ticks = await Promise.all(sizes.map((size) => tick(faulty.projector, targets, size)));
  for (const { outcome } of ticks) countEvent(coverage, `race: tick ${outcome}`);
  const moved = ticks.filter((one) => one.outcome === "moved");
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

/** What projectors say themselves. */
const verdicts = sql.join([factKind.fact_quarantined, factKind.fact_released].map(sql.lit));

async function measureLog(db: Database) {
  type Log = Record<"head" | "facts" | "first" | "last" | "events" | "observations", bigint>;
  const { rows } = await sql<Log>`
    select (select position from log.head) as head, count(*) as facts, coalesce(min(position), 1) as first,
           coalesce(max(position), 0) as last, count(*) filter (where log_index is not null) as events,
           count(*) filter (where identity is not null and kind not in (${verdicts})) as observations
    from log.fact`.execute(db);
  const [log] = rows;
  if (log === undefined) throw new Error("an aggregate without a row");
  return log;
}

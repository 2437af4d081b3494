import { loadavg } from "node:os";
import { pid } from "node:process";
import { sql } from "kysely";
import { eventsWhere } from "#projections/activity/read-event-scans.ts";
import { dropTarget } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { type Figure, medianFigure } from "../figure.ts";
import { derive } from "../rebuild.ts";
import { projections, theFive, theRest, timed } from "../server.ts";
import type { Backfill } from "./process.ts";
import { processorMs } from "./processor.ts";

const REPEATS = 3;

type RebuildComparison = {
  db: Database;
  postmaster: number;
  events: number;
  /** Facts of orders, which Ponder does not have. */
  orders: number;
  /** Ponder's backfill into a schema, from its cache if filled. */
  backfill(schema: string): Promise<Backfill>;
};

/** Elapsed and processor time in milliseconds. */
type Spent = { ms: number; processorMs: number };

/** `five`: the projections that do the same work as Ponder, and those they read; `all`: every projection. */
type Ours = { five: Spent; all: Spent };

type Round = { ponder: Backfill; ours: Ours; load: number };

/** Alternates Ponder from its warm cache and the projections from the log. Returns Ponder's last schema. */
export async function compareRebuilds(
  comparison: RebuildComparison,
): Promise<{ figures: Figure[]; schema: string }> {
  const { db, events, backfill } = comparison;
  await backfill("bench_first");
  await sql`vacuum analyze`.execute(db);
  const rounds: Round[] = [];
  const each = new Map<string, number[]>();
  let schema = "";
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    schema = `bench_warm_${repeat}`;
    const ponder = await backfill(schema);
    rounds.push({ ponder, ours: await rebuild(comparison, each), load: loadavg()[0] ?? 0 });
  }
  const rows = await compareRows(db, schema);
  const loads = rounds.map(({ load }) => load.toFixed(1)).join(", ");
  const size = `${events} events (${rows}); ${comparison.orders} orders more for ours; load ${loads}`;
  const parts = [...each].map(([name, ms]) =>
    medianFigure(`ponder, rebuild, ours, ${name}`, ms, { unit: "ms" }, size),
  );
  return { figures: [...figuresOf(rounds, events, size), ...parts], schema };
}

function figuresOf(rounds: readonly Round[], events: number, size: string): Figure[] {
  const spanOf = ({ ponder }: Round) => ponder.readyAt - ponder.firstHandlerAt;
  const rateOf = (ms: number) => events / (ms / 1_000);
  type Goal = Parameters<typeof medianFigure>[2];
  const figure = (name: string, goal: Goal, value: (round: Round) => number) =>
    medianFigure(`ponder, rebuild, ${name}`, rounds.map(value), goal, size);
  const [rate, ms] = [{ unit: "facts/s" }, { unit: "ms" }] as const;
  const against = (mark: string, of: keyof Ours) => [
    figure(
      `of Ponder's${mark}`,
      { unit: "ratio", ...(of === "five" && { atLeast: 6 }) },
      (one) => spanOf(one) / one.ours[of].ms,
    ),
    figure(
      `by processor time${mark}`,
      { unit: "ratio" },
      (one) => one.ponder.processorMs / one.ours[of].processorMs,
    ),
    figure(`ours${mark}`, rate, ({ ours }) => rateOf(ours[of].ms)),
    figure(`ours${mark}, processor`, ms, ({ ours }) => ours[of].processorMs),
  ];
  return [
    ...against("", "five"),
    ...against(", all", "all"),
    figure("Ponder until ready", rate, (one) => rateOf(spanOf(one))),
    figure("Ponder without indexes", rate, ({ ponder }) =>
      rateOf(ponder.indexedAt - ponder.firstHandlerAt),
    ),
    figure("Ponder, processor", ms, ({ ponder }) => ponder.processorMs),
  ];
}

/** Rebuilds the five and then the others from the log, as the benchmark `rebuild` does. */
async function rebuild(
  { db, postmaster }: RebuildComparison,
  each: Map<string, number[]>,
): Promise<Ours> {
  for (const { name } of projections) await dropTarget(db, schemaOf(name));
  await sql`checkpoint`.execute(db);
  const used = () => processorMs(pid) + processorMs(postmaster);
  const spend = async (chosen: readonly Projection[]): Promise<Spent> => {
    const before = used();
    const ms = await timed(() => derive(db, chosen, each));
    return { ms, processorMs: used() - before };
  };
  const five = await spend(theFive);
  const rest = await spend(theRest);
  const all = { ms: five.ms + rest.ms, processorMs: five.processorMs + rest.processorMs };
  return { five, all };
}

/** Compares row counts and sums of both. Throws when they differ. */
async function compareRows(db: Database, schema: string): Promise<string> {
  const { rows } = await sql<{ what: string; ours: string; theirs: string }>`
    select 'owned tokens' as what,
           (select count(*)::text from ownership.token where owner is not null) as ours,
           (select count(*)::text from ${sql.table(`${schema}.token`)}) as theirs
    union all
    select 'owners' as what,
           (select count(*)::text from ownership.holder),
           (select count(*)::text from ${sql.table(`${schema}.holder`)} where tokens > 0)
    union all
    select 'units', (select sum(units)::text from ownership.balance),
           (select sum(units)::text from ${sql.table(`${schema}.balance`)})
    union all
    select 'sales', (select count(*)::text from sales.sale),
           (select count(*)::text from ${sql.table(`${schema}.sale`)})
    union all
    select 'wei', (select sum(total_wei)::text from sales.sale),
           (select sum(volume)::text from ${sql.table(`${schema}.collection`)})
    union all
    select 'activities', (select count(*)::text from (${eventsWhere(sql`true`)}) e),
           (select count(*)::text from ${sql.table(`${schema}.activity`)})`.execute(db);
  const other = rows.find(({ ours, theirs }) => ours !== theirs);
  if (other !== undefined) throw new Error(`${other.what}: ${other.ours}, Ponder ${other.theirs}`);
  return rows.map(({ what, ours }) => `${ours} ${what}`).join(", ");
}

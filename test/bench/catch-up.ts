import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import { tick } from "#projections/engine/tick.ts";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { createProjection } from "../support/database/given.ts";
import { type Figure, medianFigure } from "./figure.ts";
import { inScopes, projections, type Scope, timed, withLog } from "./server.ts";

const WINDOW = 10_000;

/** Projections from the log's start in windows, one sample per window: the five of the goal, then all. */
export async function run({ facts }: { facts: number }): Promise<Figure[]> {
  return await withLog({ facts }, (db) => inScopes((scope) => catchUp(db, facts, scope)));
}

async function catchUp(
  db: Database,
  facts: number,
  { mark, of, chosen }: Scope,
): Promise<Figure[]> {
  const targets: Target[] = [];
  for (const { name } of projections) await dropTarget(db, schemaOf(name));
  for (const one of chosen) targets.push(await createProjection(db, one));
  const rates: number[] = [];
  for (let after = 0; after < facts; after += WINDOW) {
    const ms = await timed(() => tick(db, targets, WINDOW));
    rates.push(Math.min(WINDOW, facts - after) / (ms / 1000));
  }
  const size = `${facts} mixed facts, ${of}, windows of ${WINDOW}`;
  const goal = { unit: "facts/s", atLeast: 30_000 } as const;
  return [
    medianFigure(`catch-up${mark}`, rates, goal, size),
    medianFigure(
      `catch-up${mark}, last tenth`,
      rates.slice(-Math.ceil(rates.length / 10)),
      goal,
      size,
    ),
  ];
}

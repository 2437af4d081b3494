import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { keccak256, stringToHex } from "viem";
import type { Database } from "../database.ts";
import { appendObservations, type Observation } from "./append.ts";
import { kindList, kindLiteral } from "./fact-kind-sql.ts";

/** Who started what at the operator's console, and why. */
export type OperatorAction = {
  action: string;
  arguments: readonly string[];
  by: string;
  /** Network address that it came from. */
  address: string;
  reason: string;
};

export type RecordedAction = OperatorAction & {
  id: string;
  startedAt: Date;
  position: bigint;
  /** Null while it runs, or where the process that ran it was killed. */
  ended: { at: Date; isDone: boolean; output: string } | null;
};

/** Appends that an operator started something. Returns the action's id. */
export async function appendActionStarted(db: Database, action: OperatorAction): Promise<string> {
  const id = randomUUID();
  await appendObservations(db, [observationOf("operator_action_started", id, { id, ...action })]);
  return id;
}

export async function appendActionEnded(
  db: Database,
  id: string,
  outcome: { isDone: boolean; output: string },
): Promise<void> {
  await appendObservations(db, [observationOf("operator_action_ended", id, { id, ...outcome })]);
}

function observationOf(
  kind: "operator_action_started" | "operator_action_ended",
  id: string,
  payload: object,
): Observation {
  const identity = keccak256(stringToHex(`${kind}/${id}`));
  return { kind, chainId: 0, identity, recordedAt: new Date(), payload };
}

/** The newest actions first. */
export async function readOperatorActions(db: Database, most: number): Promise<RecordedAction[]> {
  const { rows } = await sql<{
    position: bigint;
    startedAt: Date;
    started: OperatorAction & { id: string };
    endedAt: Date | null;
    outcome: { isDone: boolean; output: string } | null;
  }>`
    with action as (
      select position, kind, recorded_at, payload from log.fact
      where kind in ${kindList("operator_action_started", "operator_action_ended")}
      order by position desc limit ${2 * most}
    )
    select s.position, s.recorded_at as "startedAt", s.payload as started, e.recorded_at as "endedAt",
           e.payload as outcome
    from action s
    left join action e on e.kind = ${kindLiteral("operator_action_ended")} and e.payload ->> 'id' = s.payload ->> 'id'
    where s.kind = ${kindLiteral("operator_action_started")}
    order by s.position desc limit ${most}`.execute(db);
  return rows.map(({ position, startedAt, started, endedAt, outcome }) => ({
    ...started,
    position,
    startedAt,
    ended: endedAt === null || outcome === null ? null : { at: endedAt, ...outcome },
  }));
}

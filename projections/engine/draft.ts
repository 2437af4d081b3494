import { sql } from "kysely";
import type { Session } from "../database.ts";
import type { Target } from "./checkpoint.ts";

/** How an index is made again, and how it becomes its table's key, where it is one: other indexes need not wait for that. */
export type Index = {
  readonly name: string;
  readonly create: string;
  readonly attach: string | null;
};

/**
 * How far tables are that are derived in bulk, kept in a table of their schema. They have no checkpoint before all
 * is done.
 */
export type Draft = {
  /** Position that every step derives up to. */
  readonly upTo: bigint;
  /** Facts that every step leaves out. */
  readonly left: readonly bigint[];
  /** Names of the steps that are done, in order, then of indexes in any, and how many parts of the step that follows. */
  readonly done: readonly string[];
  readonly part: number;
  /** Made when all else is done. */
  readonly indexes: readonly Index[];
};

/** Null where there is none, or where another version of the projection began it. */
export async function readDraft(
  session: Session,
  { projection, schema }: Target,
): Promise<Draft | null> {
  const table = sql.id(schema, "draft");
  const found = await sql<{ is: boolean }>`
    select to_regclass(${`"${schema}".draft`}) is not null as is`.execute(session);
  if (found.rows[0]?.is !== true) return null;
  const { version, parameters = "" } = projection;
  const { rows } = await sql<Omit<Draft, "left"> & { left: string[] }>`
    select up_to as "upTo", left_out::text[] as left, done, part, indexes from ${table}
    where version = ${version} and parameters = ${parameters}`.execute(session);
  const [draft] = rows;
  if (draft === undefined || !isDoneOf(draft, stepNames(projection))) return null;
  return { ...draft, left: draft.left.map(BigInt) };
}

export async function createDraft(
  session: Session,
  { projection, schema }: Target,
  { upTo, left, indexes }: Draft,
): Promise<void> {
  const { version, parameters = "" } = projection;
  await sql`
    create table ${sql.id(schema, "draft")} (
      version integer not null, parameters text not null, up_to bigint not null, left_out bigint[] not null,
      done text[] not null, part integer not null, indexes jsonb not null
    )`.execute(session);
  await sql`
    insert into ${sql.id(schema, "draft")}
    values (${version}, ${parameters}, ${upTo}, ${left}::bigint[], '{}', 0, ${JSON.stringify(indexes)}::jsonb)
  `.execute(session);
}

/** In the transaction of the rows that it tells of. */
export async function storeDraft(
  session: Session,
  { schema }: Target,
  { done, part }: Draft,
): Promise<void> {
  await sql`
    update ${sql.id(schema, "draft")} set done = ${done}::text[], part = ${part}`.execute(session);
}

export async function dropDraft(session: Session, { schema }: Target): Promise<void> {
  await sql`drop table ${sql.id(schema, "draft")}`.execute(session);
}

/** Notes that an index stands, whatever else is made at the same time. */
export async function noteIndex(session: Session, { schema }: Target, index: Index): Promise<void> {
  await sql`
    update ${sql.id(schema, "draft")} set done = array_append(done, ${indexStep(index)})`.execute(
    session,
  );
}

/** In order. A projection that has no steps of its own is one. */
export function stepNames({ deriveAll }: Target["projection"]): string[] {
  return deriveAll?.map(({ name }) => name) ?? ["all facts"];
}

export const indexStep = ({ name }: Index): string => `index ${name}`;

/** In words, how far a derivation had come. */
export function placeOf({ done, part }: Draft): string {
  const last = done.at(-1);
  const after = last === undefined ? "at its beginning" : `after ${last}`;
  return part === 0 ? after : `${after}, ${part} parts further`;
}

/** Whether the first steps are done, or all of them and some indexes. */
function isDoneOf({ done, indexes }: Pick<Draft, "indexes" | "done">, steps: readonly string[]) {
  const names = new Set(indexes.map(indexStep));
  return done.every((name, place) =>
    place < steps.length ? steps[place] === name : names.has(name),
  );
}

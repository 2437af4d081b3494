import { sql } from "kysely";
import type { Session } from "../log/database.ts";
import { isMissingRelation } from "../log/database-failure.ts";
import type { Target } from "./checkpoint.ts";

/** How a dropped index is created again and, where it is a key, attached to its table as a constraint. */
export type Index = {
  readonly name: string;
  readonly create: string;
  readonly attach: string | null;
};

/** Progress of a derivation in bulk, in a table of its schema: the schema has no checkpoint before all is done. */
export type BulkProgress = {
  /** Position that every step derives up to. */
  readonly upTo: bigint;
  /** Facts excluded from every step. */
  readonly excluded: readonly bigint[];
  /** Names of the steps done, in order, then of indexes in any order. */
  readonly done: readonly string[];
  /** Parts done of the step that follows. */
  readonly part: number;
  /** Created after all steps. */
  readonly indexes: readonly Index[];
};

/** Null where there is none, or where it is another version's. */
export async function readBulkProgress(
  session: Session,
  { projection, schema }: Target,
): Promise<BulkProgress | null> {
  const found = await sql<{ is: boolean }>`
    select to_regclass(${`"${schema}".bulk_progress`}) is not null as is`.execute(session);
  if (found.rows[0]?.is !== true) return null;
  const { version, parameters = "" } = projection;
  const { rows } = await sql<Omit<BulkProgress, "excluded"> & { excluded: string[] }>`
    select up_to as "upTo", excluded_positions::text[] as excluded, done, part, indexes
    from ${tableOf(schema)}
    where version = ${version} and parameters = ${parameters}`
    .execute(session)
    .catch((error: unknown) => {
      // The derivation has just ended.
      if (isMissingRelation(error)) return { rows: [] };
      throw error;
    });
  const [row] = rows;
  if (row === undefined || !matchesSteps(row, stepNames(projection))) return null;
  return { ...row, excluded: row.excluded.map(BigInt) };
}

export async function createBulkProgress(
  session: Session,
  { projection, schema }: Target,
  { upTo, excluded, indexes }: BulkProgress,
): Promise<void> {
  const { version, parameters = "" } = projection;
  await sql`
    create table ${tableOf(schema)} (
      version integer not null, parameters text not null, up_to bigint not null, excluded_positions bigint[] not null,
      done text[] not null, part integer not null, indexes jsonb not null
    )`.execute(session);
  await sql`
    insert into ${tableOf(schema)}
    values (${version}, ${parameters}, ${upTo}, ${excluded}::bigint[], '{}', 0, ${JSON.stringify(indexes)}::jsonb)
  `.execute(session);
}

/** In the transaction of the derived rows. */
export async function storeBulkProgress(
  session: Session,
  { schema }: Target,
  { done, part }: BulkProgress,
): Promise<void> {
  await sql`
    update ${tableOf(schema)} set done = ${done}::text[], part = ${part}`.execute(session);
}

export async function dropBulkProgress(session: Session, { schema }: Target): Promise<void> {
  await sql`drop table ${tableOf(schema)}`.execute(session);
}

/** Stores that an index is created; others may be stored at the same time. */
export async function storeIndexDone(
  session: Session,
  { schema }: Target,
  index: Index,
): Promise<void> {
  await sql`
    update ${tableOf(schema)} set done = array_append(done, ${indexStep(index)})`.execute(session);
}

/** In order. A projection without steps of its own is one step. */
export function stepNames({ deriveAll }: Target["projection"]): string[] {
  return deriveAll?.map(({ name }) => name) ?? ["all facts"];
}

const tableOf = (schema: string) => sql.id(schema, "bulk_progress");

export const indexStep = ({ name }: Index): string => `index ${name}`;

/** For people: how far a derivation had come. */
export function describeBulkProgress({ done, part }: BulkProgress): string {
  const last = done.at(-1);
  const after = last === undefined ? "from its start" : `after ${last}`;
  return part === 0 ? after : `${after} and ${part} parts of the next step`;
}

/** Whether the first steps are done, or all of them and some indexes. */
function matchesSteps(
  { done, indexes }: Pick<BulkProgress, "indexes" | "done">,
  steps: readonly string[],
) {
  const names = new Set(indexes.map(indexStep));
  return done.every((name, index) =>
    index < steps.length ? steps[index] === name : names.has(name),
  );
}

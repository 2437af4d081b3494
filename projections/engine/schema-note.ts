import { sql } from "kysely";
import type { Session } from "../database.ts";

/** A rebuild of several projections, noted with the schemas beside that it has not exchanged yet. */
export type Run = { readonly names: readonly string[]; readonly begunAt: Date };

/** Facts a second that the tables of a schema were derived at in bulk; null when that was not noted. */
export async function readPace(session: Session, schema: string): Promise<number | null> {
  const note = await readNote(session, schema);
  const [, facts, seconds] = /derived (\d+) facts in ([\d.]+) s/.exec(note) ?? [];
  return Number(facts) > 0 && Number(seconds) > 0 ? Number(facts) / Number(seconds) : null;
}

export async function readRun(session: Session, schema: string): Promise<Run | null> {
  const note = await readNote(session, schema);
  const [, names, begunAt] = /rebuild of ([\w, ]+) begun (\S+)/.exec(note) ?? [];
  if (names === undefined || begunAt === undefined) return null;
  return { names: names.split(", "), begunAt: new Date(begunAt) };
}

/** Notes it for the next rebuild's guess, and for whoever looks at the schema. */
export async function notePace(
  session: Session,
  schema: string,
  facts: bigint,
  seconds: number,
): Promise<void> {
  const pace = `derived ${facts} facts in ${seconds.toFixed(3)} s`;
  const run = await readRun(session, schema);
  await note(session, schema, run === null ? pace : `${pace}; ${inWords(run)}`);
}

export async function noteRun(session: Session, schema: string, run: Run): Promise<void> {
  await note(session, schema, inWords(run));
}

const inWords = ({ names, begunAt }: Run) =>
  `rebuild of ${names.join(", ")} begun ${begunAt.toISOString()}`;

async function note(session: Session, schema: string, text: string): Promise<void> {
  await sql`comment on schema ${sql.id(schema)} is ${sql.lit(text)}`.execute(session);
}

async function readNote(session: Session, schema: string): Promise<string> {
  const { rows } = await sql<{ note: string | null }>`
    select obj_description(oid, 'pg_namespace') as note from pg_namespace where nspname = ${schema}`.execute(
    session,
  );
  return rows[0]?.note ?? "";
}

import { sql } from "kysely";
import type { Session } from "../log/database.ts";

/** A rebuild of several projections, in the comment of each shadow schema that it has not swapped in yet. */
export type RebuildRun = { readonly names: readonly string[]; readonly startedAt: Date };

/** Facts per second at which the tables of a schema were derived in bulk; null where unknown. */
export async function readBulkRate(session: Session, schema: string): Promise<number | null> {
  const setSchemaComment = await readSchemaComment(session, schema);
  const [, facts, seconds] = /derived (\d+) facts in ([\d.]+) s/.exec(setSchemaComment) ?? [];
  return Number(facts) > 0 && Number(seconds) > 0 ? Number(facts) / Number(seconds) : null;
}

export async function readRebuildRun(session: Session, schema: string): Promise<RebuildRun | null> {
  const note = await readSchemaComment(session, schema);
  const [, names, startedAt] = /rebuild of ([\w, ]+) (?:begun|started) (\S+)/.exec(note) ?? [];
  if (names === undefined || startedAt === undefined) return null;
  return { names: names.split(", "), startedAt: new Date(startedAt) };
}

/** For the estimate of the next rebuild, and for people who look at the schema. */
export async function storeBulkRate(
  session: Session,
  schema: string,
  facts: bigint,
  seconds: number,
): Promise<void> {
  const rate = `derived ${facts} facts in ${seconds.toFixed(3)} s`;
  const run = await readRebuildRun(session, schema);
  await note(session, schema, run === null ? rate : `${rate}; ${describeRebuildRun(run)}`);
}

export async function storeRebuildRun(
  session: Session,
  schema: string,
  run: RebuildRun,
): Promise<void> {
  await note(session, schema, describeRebuildRun(run));
}

const describeRebuildRun = ({ names, startedAt }: RebuildRun) =>
  `rebuild of ${names.join(", ")} started ${startedAt.toISOString()}`;

async function note(session: Session, schema: string, text: string): Promise<void> {
  await sql`comment on schema ${sql.id(schema)} is ${sql.lit(text)}`.execute(session);
}

async function readSchemaComment(session: Session, schema: string): Promise<string> {
  const { rows } = await sql<{ note: string | null }>`
    select obj_description(oid, 'pg_namespace') as note from pg_namespace where nspname = ${schema}`.execute(
    session,
  );
  return rows[0]?.note ?? "";
}

import { CompiledQuery, sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";
import type { Projection } from "./projection.ts";

/** A projection and the schema of its tables: that of its version, or a shadow schema while it is rebuilt. */
export type Target = { readonly projection: Projection; readonly schema: string };

/** A projection and its tables of this release's version. */
export const targetOf = (projection: Projection): Target => ({
  projection,
  schema: schemaOf(projection.name),
});

export type Checkpoint = {
  schema: string;
  version: number;
  parameters: string;
  position: bigint;
  /** Positions of the facts that the tables were derived without. */
  excludedPositions: readonly bigint[];
};

export async function readCheckpoints(session: Session): Promise<Map<string, Checkpoint>> {
  const { rows } = await sql<
    Omit<Checkpoint, "excludedPositions"> & { excludedPositions: string[] }
  >`
    select projection as schema, version, parameters, position,
           excluded_positions::text[] as "excludedPositions"
    from engine.checkpoint`.execute(session);
  return new Map(
    rows.map((row) => [
      row.schema,
      { ...row, excludedPositions: row.excludedPositions.map(BigInt) },
    ]),
  );
}

/** Locks checkpoints until the transaction ends: another tick waits here, finds them moved, and is aborted. */
export async function lockCheckpoints(session: Session, schemas: readonly string[]): Promise<void> {
  await sql`
    select from engine.checkpoint where projection = any (${schemas}::text[]) order by projection for update
  `.execute(session);
}

/** Aborts ticks that have read checkpoints before: they will find them changed. */
export async function abortTicks(session: Session, schemas: readonly string[]): Promise<void> {
  await lockCheckpoints(session, schemas);
  await sql`
    update engine.checkpoint set position = position where projection = any (${schemas}::text[])`.execute(
    session,
  );
}

/** Whether the tables at a checkpoint were derived by this version of the projection, from these parameters. */
export function isCurrent(checkpoint: Checkpoint, { version, parameters }: Projection): boolean {
  return checkpoint.version === version && checkpoint.parameters === (parameters ?? "");
}

/** Creates empty tables and a checkpoint before the first fact. */
export async function createTarget(session: Session, target: Target): Promise<void> {
  await createTables(session, target);
  await createCheckpoint(session, target, 0n);
}

export async function createTables(
  session: Session,
  { projection, schema }: Target,
): Promise<void> {
  await sql`create schema if not exists ${sql.id(schema)}`.execute(session);
  for (const statement of projection.tables(schema))
    await session.getExecutor().executeQuery(CompiledQuery.raw(statement));
}

export async function createCheckpoint(
  session: Session,
  { projection: { version, parameters = "" }, schema }: Target,
  position: bigint,
  excludedPositions: readonly bigint[] = [],
): Promise<void> {
  await sql`
    insert into engine.checkpoint (projection, version, parameters, position, excluded_positions)
    values (${schema}, ${version}, ${parameters}, ${position}, ${excludedPositions}::bigint[])`.execute(
    session,
  );
}

export async function dropTarget(session: Session, schema: string): Promise<void> {
  await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(session);
  await sql`delete from engine.checkpoint where projection = ${schema}`.execute(session);
}

/** Moves checkpoints that are still at `after`. Returns how many: another process has moved those missing. */
export async function moveCheckpoints(
  session: Session,
  schemas: readonly string[],
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<number> {
  const { numAffectedRows } = await sql`
    update engine.checkpoint set position = ${upTo}, updated_at = now()
    where projection = any (${schemas}::text[]) and position = ${after}`.execute(session);
  return Number(numAffectedRows ?? 0n);
}

/** How far a target may be derived: to the lowest of `bounds` and of the positions of what it reads. */
export function reachablePosition(
  { projection }: Target,
  checkpoints: ReadonlyMap<string, Checkpoint>,
  bounds: readonly [bigint, ...bigint[]],
): bigint {
  const read = (projection.reads ?? []).map(
    (name) => checkpoints.get(schemaOf(name))?.position ?? 0n,
  );
  return [...bounds, ...read].reduce((lowest, one) => (one < lowest ? one : lowest));
}

/** Positions of the tables that a projection reads; 0 for those that do not exist. */
export function readPositions(
  { reads = [] }: Projection,
  checkpoints: ReadonlyMap<string, Checkpoint>,
): bigint[] {
  return reads.map((name) => checkpoints.get(schemaOf(name))?.position ?? 0n);
}

/** Whether all tables that a projection reads are at one position. */
export const areAligned = (
  projection: Projection,
  checkpoints: ReadonlyMap<string, Checkpoint>,
): boolean => new Set(readPositions(projection, checkpoints)).size <= 1;

class RolledBack extends Error {}

/** For people: how a projection's tables differ from those that this version creates, in columns, types, keys and indexes. */
export async function findDrift(db: Database, projection: Projection): Promise<string[]> {
  const scratch = `${schemaOf(projection.name)}_drift`;
  const differences: string[] = [];
  const compare = async (session: Session): Promise<never> => {
    await dropTarget(session, scratch);
    await createTarget(session, { projection, schema: scratch });
    const [made, stored] = [
      await describe(session, scratch),
      await describe(session, schemaOf(projection.name)),
    ];
    differences.push(
      ...made.filter((one) => !stored.includes(one)).map((one) => `lacks ${one}`),
      ...stored.filter((one) => !made.includes(one)).map((one) => `has ${one} too many`),
    );
    throw new RolledBack();
  };
  await db
    .transaction()
    .execute(compare)
    .catch((error: unknown) => {
      if (!(error instanceof RolledBack)) throw error;
    });
  return differences;
}

async function describe(session: Session, schema: string): Promise<string[]> {
  const { rows } = await sql<{ part: string }>`
    select format('%s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                  case when a.attnotnull then ' not null' else '' end) as part
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = to_regnamespace(quote_ident(${schema})) and c.relkind = 'r'
      and a.attnum > 0 and not a.attisdropped
    union all
    select format('index on %s%s', t.relname, substring(pg_get_indexdef(i.indexrelid) from ' USING .*'))
    from pg_index i join pg_class t on t.oid = i.indrelid
    where t.relnamespace = to_regnamespace(quote_ident(${schema}))
    order by 1`.execute(session);
  return rows.map(({ part }) => part);
}

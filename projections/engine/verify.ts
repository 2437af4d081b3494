import { setTimeout as delay } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { Database, Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { schemaOf } from "../log/versions.ts";
import { createTarget, dropTarget, isCurrent, readCheckpoints, type Target } from "./checkpoint.ts";
import { addChanges, logFacts, openWindow } from "./fact-window.ts";
import type { Projection, Sample } from "./projection.ts";
import { applyToTarget, type BuildProgress, build, catchUp } from "./rebuild.ts";
import { shadowSchemas, withProjectionLock } from "./shadow-schema.ts";
import { deriveInSnapshot } from "./snapshot.ts";
import { applyWindow, readOpenWindow } from "./tick.ts";

export type Verification = Comparison & { projection: string; position: bigint };

type VerifyOptions = {
  /** Differing rows reported at most; all are counted. */
  maxExamples: number;
  /** Compare only so many keys. */
  sample?: number;
  onProgress: (progress: BuildProgress) => void;
};

/** How long to wait until a projection and those it reads are at one position; live ones are within a tick. */
const SAME_POSITION_TIMEOUT_MS = 30_000;
const POLL_MS = 100;

/**
 * Derives a projection in a shadow schema and compares it with the serving tables at one position, while ticks continue.
 * The shadow schema is dropped afterwards.
 */
export async function verify(
  db: Database,
  projection: Projection,
  options: VerifyOptions,
): Promise<Verification> {
  const target = { projection, schema: shadowSchemas(projection.name).verify };
  return await withProjectionLock(db, projection.name, async () => {
    await assertVersion(db, projection);
    const drop = () => db.transaction().execute((session) => dropTarget(session, target.schema));
    await drop();
    try {
      if (options.sample !== undefined) return await verifySample(db, target, options);
      return await verifyAll(db, target, options);
    } finally {
      await drop();
    }
  });
}

async function verifyAll(
  db: Database,
  target: Target,
  options: VerifyOptions,
): Promise<Verification> {
  const { name } = target.projection;
  const limit = (await readCheckpoints(db)).get(schemaOf(name))?.position ?? 0n;
  await build(db, target, { limit }, options.onProgress);
  const reached = (await readCheckpoints(db)).get(schemaOf(name))?.position ?? 0n;
  await catchUp(db, target, { limit: reached }, options.onProgress);
  return await atOnePosition(db, target.projection, async (session, position) => {
    const after = (await readCheckpoints(session)).get(target.schema)?.position ?? 0n;
    if (after > position) throw new Error(`${name} was rolled back while it was verified`);
    await applyToTarget(session, target, { after, upTo: position });
    return await compareSchemas(
      session,
      { stored: schemaOf(name), derived: target.schema },
      options,
    );
  });
}

async function verifySample(db: Database, target: Target, options: VerifyOptions) {
  return await atOnePosition(db, target.projection, (session, position) =>
    compareSample(session, target, { ...options, position, keys: options.sample ?? 0 }),
  );
}

/** Does work in a snapshot in which the projection and all that it reads are at one position. */
async function atOnePosition(
  db: Database,
  { name, reads = [] }: Projection,
  work: (session: Session, position: bigint) => Promise<Comparison>,
): Promise<Verification> {
  for (const deadline = Date.now() + SAME_POSITION_TIMEOUT_MS; ; await delay(POLL_MS)) {
    const seen = await deriveInSnapshot(db, async (session): Promise<Verification | string> => {
      const checkpoints = await readCheckpoints(session);
      const position = checkpoints.get(schemaOf(name))?.position ?? 0n;
      const behind = reads.find((one) => checkpoints.get(schemaOf(one))?.position !== position);
      if (behind !== undefined)
        return `${behind} is at ${checkpoints.get(schemaOf(behind))?.position ?? 0n}`;
      return { projection: name, position, ...(await work(session, position)) };
    });
    if (typeof seen !== "string") return seen;
    if (Date.now() > deadline) {
      throw new Error(
        `cannot compare ${name}: it is not at the position of a projection it reads (${seen}). Start a projector`,
      );
    }
  }
}

async function assertVersion(db: Database, projection: Projection): Promise<void> {
  const stored = (await readCheckpoints(db)).get(schemaOf(projection.name));
  if (stored === undefined) throw new Error(`${projection.name} has no tables yet`);
  if (isCurrent(stored, projection)) return;
  throw new Error(
    `${projection.name} has tables of version ${stored.version} or of other parameters, this program derives version ` +
      `${projection.version}: verify it with the program that derived them, or rebuild it`,
  );
}

/** Positions read for each key wanted: maxExamples facts do not concern a projection. */
const POSITIONS_PER_KEY = 50;

/** Derives the rows of a few keys, half of them picked from the log and half from the tables, and compares those. */
async function compareSample(
  session: Session,
  target: Target,
  { position, keys, maxExamples }: { position: bigint; keys: number; maxExamples: number },
): Promise<Comparison> {
  const { projection, schema } = target;
  const { sample } = projection;
  if (sample === undefined) {
    throw new Error(`${projection.name} cannot be verified by a sample, only completely`);
  }
  await createTarget(session, target);
  const opened = await openWindow(session, { after: position, upTo: position });
  await pickKeys(session, schemaOf(projection.name), sample, position, keys);
  await addChanges(
    session,
    sql`
    ${logFacts} f join sampled using (${columnsOf(sample)})
    where (${sample.where}) and f.position <= ${position}
      and f.kind not in ${kindList("block_retracted", "block_readopted")}
      and not exists (select from ${opened.retractedBlocks} r where r.block_id = f.block_id)`,
  );
  const window = { ...opened, after: 0n };
  const open = await readOpenWindow(session, window, await readCheckpoints(session));
  await applyWindow(session, target, open);
  return await compareSchemas(
    session,
    { stored: schemaOf(projection.name), derived: schema },
    {
      maxExamples: maxExamples,
      tables: sample.tables,
      restriction: sql`natural join sampled`,
    },
  );
}

/** Fills the session's table `sampled`. */
async function pickKeys(
  session: Session,
  stored: string,
  sample: Sample,
  position: bigint,
  keys: number,
): Promise<void> {
  const columns = columnsOf(sample);
  const facts = sql`
    select ${columns}
    from (
      select distinct 1 + floor(random() * ${position})::bigint as position
      from generate_series(1, ${keys * POSITIONS_PER_KEY})
    ) chosen
    join ${logFacts} f using (position)
    where ${sample.where}`;
  const tables = await Promise.all(
    sample.tables.map(async (table) => rowsOf(session, stored, table, sample, keys)),
  );
  const wholeKeys = sql.join(
    sample.key.map((column) => sql`${sql.ref(column)} is not null`),
    sql` and `,
  );
  await sql`
    create temporary table sampled on commit drop as
    select distinct ${columns}
    from (
      (select * from (select distinct * from (${facts}) f where ${wholeKeys}) k order by random() limit ${keys})
      union all
      (select * from (${sql.join(tables, sql` union `)}) t order by random() limit ${keys})
    ) picked`.execute(session);
  await sql`
    delete from sampled where ctid not in (select ctid from sampled order by random() limit ${keys})
  `.execute(session);
}

/** Keys of some rows of a table that have facts of their own. */
async function rowsOf(
  session: Session,
  schema: string,
  table: string,
  sample: Sample,
  keys: number,
): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ rows: number }>`
    select greatest(reltuples, 1)::float8 as rows from pg_class
    where oid = to_regclass(${`${schema}.${table}`})`.execute(session);
  const percent = Math.min(100, (100 * POSITIONS_PER_KEY * keys) / (rows[0]?.rows ?? 1));
  const same = sql.join(
    sample.key.map((column) => sql`f.${sql.ref(column)} = r.${sql.ref(column)}`),
    sql` and `,
  );
  return sql`
    select ${columnsOf(sample)}
    from ${sql.id(schema, table)} r tablesample bernoulli (${sql.raw(percent.toFixed(6))})
    where exists (select from ${logFacts} f where (${sample.where}) and ${same})`;
}

function columnsOf({ key }: Sample): RawBuilder<unknown> {
  return sql.join(key.map((column) => sql.ref(column)));
}

/** A stored row that differs from the derived one. Null: the row is missing there. */
export type RowDifference = {
  table: string;
  stored: Record<string, unknown> | null;
  derived: Record<string, unknown> | null;
};

export type SchemaTable = { name: string; columns: string[]; key: string[] };

/** Numbers of rows compared and different, and examples. */
type Comparison = { compared: bigint; different: bigint; examples: RowDifference[] };

/** Compares the tables of two schemas row by row by content; `restriction` limits the rows of each. */
export async function compareSchemas(
  session: Session,
  { stored, derived }: { stored: string; derived: string },
  options: { maxExamples: number; tables?: readonly string[]; restriction?: RawBuilder<unknown> },
): Promise<Comparison> {
  const total: Comparison = { compared: 0n, different: 0n, examples: [] };
  const there = await readSchemaTables(session, stored);
  for (const table of await readSchemaTables(session, derived)) {
    if (options.tables !== undefined && !options.tables.includes(table.name)) continue;
    const same = there.find(({ name }) => name === table.name);
    if (same?.columns.join() !== table.columns.join()) {
      throw new Error(
        `${stored}.${table.name} has columns ${same?.columns.join(", ") ?? "(no table)"}, this version creates ` +
          `${table.columns.join(", ")}: rebuild it`,
      );
    }
    const one = await compareTable(session, table, { stored, derived }, options);
    total.compared += one.compared;
    total.different += one.different;
    total.examples.push(...one.examples.slice(0, options.maxExamples - total.examples.length));
  }
  return total;
}

async function compareTable(
  session: Session,
  { name, columns, key }: SchemaTable,
  { stored, derived }: { stored: string; derived: string },
  { maxExamples, restriction }: { maxExamples: number; restriction?: RawBuilder<unknown> },
): Promise<Comparison> {
  if (key.length === 0) throw new Error(`${derived}.${name} has no key to compare its rows by`);
  const rowsOf = (schema: string) =>
    sql`select * from ${sql.id(schema, name)} ${restriction ?? sql``}`;
  const content = (alias: string) =>
    sql`row(${sql.join(columns.map((column) => sql.ref(`${alias}.${column}`)))})`;
  const sides = sql`
    (${rowsOf(stored)}) s full join (${rowsOf(derived)}) d
    on ${sql.join(
      key.map((column) => sql`s.${sql.ref(column)} = d.${sql.ref(column)}`),
      sql` and `,
    )}`;
  const differs = sql`${content("s")} is distinct from ${content("d")}`;
  const { rows } = await sql<{ compared: bigint; different: bigint }>`
    select count(*) as compared, count(*) filter (where ${differs}) as different from ${sides}`.execute(
    session,
  );
  const { compared = 0n, different = 0n } = rows[0] ?? {};
  if (different === 0n || maxExamples === 0) return { compared, different, examples: [] };
  const first = sql.ref(key[0] ?? "");
  const examples = await sql<{
    stored: RowDifference["stored"];
    derived: RowDifference["derived"];
  }>`
    select case when s.${first} is not null then to_jsonb(s) end as stored,
           case when d.${first} is not null then to_jsonb(d) end as derived
    from ${sides} where ${differs}
    order by ${sql.join(key.map((column) => sql`coalesce(s.${sql.ref(column)}, d.${sql.ref(column)})`))}
    limit ${maxExamples}`.execute(session);
  return { compared, different, examples: examples.rows.map((row) => ({ table: name, ...row })) };
}

/** A schema's tables with their columns and the columns of a unique key. */
export async function readSchemaTables(session: Session, schema: string): Promise<SchemaTable[]> {
  const { rows } = await sql<SchemaTable>`
    select c.relname as name,
           array(select a.attname::text from pg_attribute a
                 where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns,
           array(select a.attname::text from (
                   select i.indrelid, i.indkey from pg_index i
                   where i.indrelid = c.oid and i.indisunique and i.indpred is null and i.indexprs is null
                   order by i.indisprimary desc limit 1
                 ) i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
                 order by a.attnum) as key
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind = 'r'
    order by c.relname`.execute(session);
  return rows;
}

import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { schemaOf } from "../log/versions.ts";
import { applyWindow, readOpenWindow } from "./apply-window.ts";
import { createTarget, readCheckpoints, type Target } from "./checkpoint.ts";
import { type Comparison, compareSchemas } from "./compare.ts";
import { addChanges, logFacts, openWindow } from "./fact-window.ts";
import type { Sample } from "./projection.ts";

/** Positions read for each key wanted: maxExamples facts do not concern a projection. */
const POSITIONS_PER_KEY = 50;

/** Derives the rows of a few keys, half of them picked from the log and half from the tables, and compares those. */
export async function compareSample(
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

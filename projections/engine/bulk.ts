import { sql } from "kysely";
import type { Database, Session } from "../database.ts";
import {
  createTarget,
  endOf,
  moveCheckpoints,
  readCheckpoints,
  readHead,
  type Target,
} from "./checkpoint.ts";
import { readVerdicts } from "./quarantine.ts";
import { sieved, sortVerdicts } from "./sieve.ts";
import { closeHistory, openHistory } from "./window.ts";

/** Memory for a sort or a hash of the session, and for building an index. */
const WORK_MEMORY = "128MB";
const INDEX_MEMORY = "256MB";

/**
 * Makes a target's tables and derives them from the whole log at once: no windows, indexes last. It ends at the log's
 * head, at `limit`, or where the tables stand that the target reads; returns that position. All of it is one
 * transaction, so what was killed has left nothing.
 */
export async function deriveInBulk(
  db: Database,
  target: Target,
  onProgress: (step: string) => void = () => {},
  limit?: bigint,
): Promise<bigint> {
  const { projection, schema } = target;
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      await sql`select set_config('work_mem', ${WORK_MEMORY}, true),
                       set_config('maintenance_work_mem', ${INDEX_MEMORY}, true)`.execute(session);
      const checkpoints = await readCheckpoints(session);
      const head = await readHead(session);
      const bounds = [head, ...(limit === undefined ? [] : [limit])] as const;
      const window = { after: 0n, upTo: endOf(target, checkpoints, bounds) };
      await createTarget(session, target);
      const { left } = sortVerdicts(await readVerdicts(session), target, window);
      await openHistory(session, window.upTo, left);
      const { apply, deriveAll } = projection;
      if (deriveAll === undefined) {
        await sieved(session, left, (through) => apply(through, schema, window));
      } else {
        const indexes = await takeIndexes(session, schema);
        await sieved(session, left, (through) => deriveAll(through, schema, window, onProgress));
        for (const { name, create } of indexes) {
          onProgress(`index ${name}`);
          await sql.raw(create).execute(session);
        }
      }
      await closeHistory(session);
      await moveCheckpoints(session, [schema], window);
      return window.upTo;
    });
}

/** Drops the indexes and keys of a schema's tables. Returns the statements that make them again. */
async function takeIndexes(
  session: Session,
  schema: string,
): Promise<{ name: string; create: string }[]> {
  const { rows } = await sql<{ name: string; drop: string; create: string }>`
    select c.relname as name,
           case when k.oid is null then format('drop index %s', i.indexrelid::regclass)
                else format('alter table %s drop constraint %I', i.indrelid::regclass, k.conname) end as drop,
           case when k.oid is null then pg_get_indexdef(i.indexrelid)
                else format('alter table %s add constraint %I %s', i.indrelid::regclass, k.conname,
                            pg_get_constraintdef(k.oid)) end as create
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    left join pg_constraint k on k.conindid = i.indexrelid
    where c.relnamespace = to_regnamespace(quote_ident(${schema}))::oid
    order by i.indrelid, i.indexrelid`.execute(session);
  for (const { drop } of rows) await sql.raw(drop).execute(session);
  return rows;
}

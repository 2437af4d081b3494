import { type Kysely, sql } from "kysely";

/** What tables were derived without stands with their checkpoint: it goes where they go, whatever is said of it later. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table engine.checkpoint add column left_out bigint[] not null default '{}'`.execute(
    db,
  );
  await sql`
    with verdict as (
      select distinct on (payload ->> 'projection', amount) payload ->> 'projection' as projection,
             amount::bigint as fact, kind
      from log.fact where kind in (95, 96)
      order by payload ->> 'projection', amount, position desc
    ), held as (
      select projection, array_agg(fact order by fact) as facts from verdict where kind = 95 group by projection
    )
    update engine.checkpoint c set left_out = held.facts
    from held where c.projection = held.projection`.execute(db);
}

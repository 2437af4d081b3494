import { type Kysely, sql } from "kysely";

/** Each release's projector leads by itself: those of two releases derive their own tables at the same time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ops.projecting_lease (
      role       text        primary key,
      owner      text        not null,
      epoch      bigint      not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`
    comment on table ops.projecting_lease is 'Who alone derives the tables of a release''s versions of the projections, as in ops.lease.'`.execute(
    db,
  );
}

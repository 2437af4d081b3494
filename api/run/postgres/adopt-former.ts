import { sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { runSqlFile } from "./run-sql-file.ts";

/** The last migration of the releases that had 49 of them, in place of one start. */
const lastOfFormer = "0081-history-proof";

/** Whether a database was made by those releases. */
export async function isFormer(session: Session): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select to_regclass('ops.later_migration') is not null as is`.execute(session);
  return rows[0]?.is ?? false;
}

/** Takes away what no release uses any more. Throws where a migration is lacking, or facts are in archives alone. */
export async function adoptFormer(session: Session): Promise<void> {
  const { rows } = await sql`
    select from ops.later_migration where name = ${lastOfFormer}`.execute(session);
  if (rows.length === 0) {
    throw new Error(
      `the database lacks ${lastOfFormer}: run op migrate of the release before this one, then migrate again`,
    );
  }
  await sql.raw(refuseDetached).execute(session);
  await sql.raw(removeFormer).execute(session);
  await runSqlFile(session, "projections/log/functions.sql");
}

const refuseDetached = `
do $$
begin
  if exists (select from log.archive where detached_at is not null) then
    raise object_not_in_prerequisite_state using
      message = 'facts are in archives alone: bring them back with the release before this one, op log attach, then migrate again';
  end if;
end
$$`;

const removeFormer = `
drop trigger if exists refuse_moved_chain on log.block;
drop table if exists log.archive, log.detached_block, log.detached_range, ops.arriving_chain, ops.moved_chain;
drop function if exists log.refuse_detach(), log.refuse_moved_chain(), log.remove_detached_from_stage(bigint[]),
  log.refuse_detached(integer, bigint, bigint);
drop table ops.kysely_migration, ops.kysely_migration_lock, ops.later_migration, ops.later_migration_lock;
alter table log.head alter column partitions_end set not null;
comment on column log.head.partitions_end is 'The first position behind the last partition.';
create table ops.migration (
  name text not null,
  applied_at timestamp with time zone default now() not null,
  constraint migration_pkey primary key (name)
);
comment on table ops.migration is 'What brought the database to its release.'`;

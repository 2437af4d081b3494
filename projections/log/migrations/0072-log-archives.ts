import { type Kysely, sql } from "kysely";

/** Which partitions of the log are archived, and where. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table log.archive (
     first_position bigint      primary key,
     last_position  bigint      not null,
     facts          bigint      not null,
     directory      text        not null,
     file           text        not null,
     bytes          bigint      not null,
     sha256         text        not null,
     digest         text        not null,
     archived_at    timestamptz not null default now()
   )`,
  "comment on table log.archive is 'Files of partitions of the log, each read back and compared before it was noted here.'",
  "comment on column log.archive.sha256 is 'Of the file, as sha256sum prints it.'",
  "comment on column log.archive.digest is 'Of the rows in the order of positions, whatever the file: projections/log/archives/digest.ts.'",
];

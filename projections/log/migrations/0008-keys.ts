import { type Kysely, sql } from "kysely";

/**
 * Who may ask how often. Keys are no facts: a key that is forgotten is gone, and nothing is derived from it.
 * What a minute's requests were is worth nothing after a crash, so it is not logged.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  "create schema access",
  `create table access.key (
     id           int         primary key generated always as identity,
     hash         bytea       not null unique check (length(hash) = 32),
     type         text        not null check (type in ('instant', 'permanent')),
     name         text,
     ending       text        not null,
     per_minute   int         check (per_minute > 0),
     created_at   timestamptz not null,
     created_from text,
     expires_at   timestamptz,
     revoked_at   timestamptz,
     last_used_at timestamptz
   )`,
  "comment on column access.key.hash is 'SHA-256 of the key, which itself is nowhere.'",
  "comment on column access.key.ending is 'The last characters of the key, by which its owner knows it.'",
  "comment on column access.key.per_minute is 'Its own limit; null: the limit of its type.'",
  "comment on column access.key.created_from is 'Whose address it was given to, as long as that limits how many more are.'",
  "create index key_created_from on access.key (created_from, created_at) where created_from is not null",
  "create index key_expires on access.key (expires_at) where expires_at is not null",
  `create table access.usage (
     key_id   int    not null references access.key on delete cascade,
     day      date   not null,
     requests bigint not null,
     primary key (key_id, day)
   )`,
  "comment on table access.usage is 'Requests of a key by UTC day, a few seconds late.'",
  `create unlogged table access.minute (
     caller     text           primary key,
     began_at   timestamptz(3) not null,
     per_minute int            not null,
     used       int            not null,
     granted    int            not null,
     freed      int            not null default 0
   ) with (fillfactor = 50)`,
  "comment on table access.minute is 'What each caller has used of the minute that its first request began.'",
  "comment on column access.minute.granted is 'How many of the requests that were last asked for.'",
  "comment on column access.minute.freed is 'How many were given back, because they told nothing new.'",
];

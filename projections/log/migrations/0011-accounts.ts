import { type Kysely, sql } from "kysely";

/** Who owns keys. Of everything that lets somebody in only a hash is kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `create table access.account (
     id           int         primary key generated always as identity,
     email        text        not null unique,
     password     text        not null,
     created_at   timestamptz not null,
     suspended_at timestamptz
   )`,
  "comment on column access.account.email is 'Lower case; somebody who reads its mail made the account.'",
  "comment on column access.account.password is 'Argon2id with its parameters and salt.'",
  `create table access.session (
     id         int         primary key generated always as identity,
     hash       bytea       not null unique check (length(hash) = 32),
     account_id int         not null references access.account on delete cascade,
     created_at timestamptz not null,
     seen_at    timestamptz not null,
     address    text        not null,
     agent      text        not null
   )`,
  "comment on column access.session.seen_at is 'A minute late at most.'",
  "create index session_account on access.session (account_id)",
  `create table access.link (
     hash       bytea       primary key check (length(hash) = 32),
     email      text        not null,
     created_at timestamptz not null,
     expires_at timestamptz not null
   )`,
  "comment on table access.link is 'Sent by mail: who holds one reads that mail, and may choose the password of its account.'",
  "create index link_email on access.link (email)",
  "create index link_expires on access.link (expires_at)",
  `create table access.client_key (
     id           int         primary key generated always as identity,
     hash         bytea       not null unique check (length(hash) = 32),
     account_id   int         not null references access.account on delete cascade,
     ending       text        not null,
     created_at   timestamptz not null,
     revoked_at   timestamptz,
     last_used_at timestamptz
   )`,
  "create unique index client_key_account on access.client_key (account_id) where revoked_at is null",
  `create table access.bearer_token (
     id           int         primary key generated always as identity,
     hash         bytea       not null unique check (length(hash) = 32),
     account_id   int         not null references access.account on delete cascade,
     ending       text        not null,
     created_at   timestamptz not null,
     created_from text        not null,
     expires_at   timestamptz not null,
     revoked_at   timestamptz,
     last_used_at timestamptz
   )`,
  "comment on column access.bearer_token.last_used_at is 'A minute late at most.'",
  "create index bearer_token_account on access.bearer_token (account_id)",
  "create index bearer_token_expires on access.bearer_token (expires_at)",
  `create table access.attempt (
     subject  text        primary key,
     began_at timestamptz not null,
     ends_at  timestamptz not null,
     made     int         not null
   )`,
  "comment on table access.attempt is 'Tries of an address or of an account in the time that the first of them began.'",
  "create index attempt_ends on access.attempt (ends_at)",
  `alter table access.key
     add account_id int references access.account on delete cascade,
     add replaces   int references access.key on delete set null`,
  "comment on column access.key.account_id is 'Null: made by an operator, or an instant one.'",
  "comment on column access.key.replaces is 'The key that goes on for a while beside this one.'",
  "create index key_account on access.key (account_id) where account_id is not null",
];

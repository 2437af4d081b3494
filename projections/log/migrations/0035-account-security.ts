import { type Kysely, sql } from "kysely";

/**
 * One account per mailbox, keys with terms of their own, second factors, places and the request log of keys. What ends
 * a credential notifies every process, so that its streams end too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const canonical = "regexp_replace(email, '^([^+@]+)[+][^@]*@', '\\1@')";

const statements = [
  `alter table access.account
     add canonical_email text generated always as (${canonical}) stored,
     add is_alias        boolean not null default false`,
  // Of several accounts of one mailbox, from before this rule, the first has its address.
  `update access.account a set is_alias = true
   where exists (select from access.account b where b.canonical_email = a.canonical_email and b.id < a.id)`,
  "create unique index account_canonical_email on access.account (canonical_email) where not is_alias",
  "comment on column access.account.canonical_email is 'The address without +tag: one account each.'",
  "comment on column access.account.is_alias is 'Made before that rule, beside another account of the same mailbox.'",

  "alter table access.session add authenticated_at timestamptz not null default now()",
  "update access.session set authenticated_at = created_at",
  "comment on column access.session.authenticated_at is 'When its user last proved to be the owner, by password or code.'",

  `alter table access.key
     add replaced_at timestamptz,
     add scopes      text[] check (cardinality(scopes) > 0),
     add networks    cidr[] check (cardinality(networks) > 0)`,
  `update access.key set replaced_at = expires_at - interval '24 hours'
   where type = 'permanent' and account_id is not null and expires_at is not null`,
  "comment on column access.key.replaced_at is 'When another key replaced it; it expires a day later.'",
  "comment on column access.key.scopes is 'What it may be used for; null: everything.'",
  "comment on column access.key.networks is 'Networks it may be used from; null: all.'",

  `create table access.key_request (
     id          bigint      primary key generated always as identity,
     key_id      int         not null references access.key on delete cascade,
     at          timestamptz not null,
     method      text        not null,
     route       text        not null,
     status      smallint    not null,
     duration_ms int         not null
   )`,
  "comment on table access.key_request is 'The newest requests of each key; older ones are deleted.'",
  "create index key_request_key on access.key_request (key_id, id)",
  "create index key_request_at on access.key_request (at)",

  `create table access.place (
     account_id int         not null references access.account on delete cascade,
     network    text        not null,
     first_at   timestamptz not null,
     last_at    timestamptz not null,
     primary key (account_id, network)
   )`,
  "comment on table access.place is 'Networks that an account was used from: IPv4 /24, IPv6 /48.'",
  "comment on column access.place.last_at is 'A day late at most.'",
  "create index place_last on access.place (last_at)",

  `create table access.second_factor (
     account_id   int         primary key references access.account on delete cascade,
     secret       bytea       not null,
     created_at   timestamptz not null,
     confirmed_at timestamptz,
     last_step    bigint      not null default 0
   )`,
  "comment on table access.second_factor is 'TOTP (RFC 6238); in force once confirmed.'",
  "comment on column access.second_factor.last_step is 'The newest time step whose code was used: none is taken twice.'",
  `create table access.recovery_code (
     account_id int         not null references access.account on delete cascade,
     hash       bytea       not null check (length(hash) = 32),
     primary key (account_id, hash)
   )`,
  `create table access.pending_sign_in (
     hash       bytea       primary key check (length(hash) = 32),
     account_id int         not null references access.account on delete cascade,
     expires_at timestamptz not null
   )`,
  "comment on table access.pending_sign_in is 'The password was right; the code of the second factor is awaited.'",
  "create index pending_sign_in_account on access.pending_sign_in (account_id)",
  "create index pending_sign_in_expires on access.pending_sign_in (expires_at)",

  `create function access.notify_ended() returns trigger language plpgsql as $$
   begin
     notify access_ended;
     return null;
   end $$`,
  ...[
    ["bearer_token", "revoked_at"],
    ["key", "revoked_at, expires_at"],
    ["account", "suspended_at"],
  ].map(
    ([table, columns]) =>
      `create trigger notify_ended after update of ${columns} or delete on access.${table}
       for each statement execute function access.notify_ended()`,
  ),
];

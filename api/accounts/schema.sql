create schema access;

create table access.account (
  id integer generated always as identity,
  email text,
  password text,
  created_at timestamp with time zone not null,
  suspended_at timestamp with time zone,
  canonical_email text generated always as (regexp_replace(email, '^([^+@]+)[+][^@]*@'::text, '\1@'::text)) stored,
  is_alias boolean default false not null,
  constraint account_pkey PRIMARY KEY (id),
  constraint account_email_key UNIQUE (email),
  constraint account_check CHECK (((email IS NULL) = (password IS NULL)))
);
comment on column access.account.email is 'Lower case; somebody who reads its mail made the account. Null: made by a wallet.';
comment on column access.account.password is 'Argon2id with its parameters and salt; null where there is no address to reset it by.';
comment on column access.account.canonical_email is 'The address without +tag: one account each.';
comment on column access.account.is_alias is 'Made before that rule, beside another account of the same mailbox.';
CREATE UNIQUE INDEX account_canonical_email ON access.account USING btree (canonical_email) WHERE (NOT is_alias);

create table access.attempt (
  subject text not null,
  began_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  made integer not null,
  constraint attempt_pkey PRIMARY KEY (subject)
);
comment on table access.attempt is 'Tries of an address or of an account in the time that the first of them began.';
CREATE INDEX attempt_ends ON access.attempt USING btree (ends_at);

create table access.bearer_token (
  id integer generated always as identity,
  hash bytea not null,
  account_id integer not null,
  ending text not null,
  created_at timestamp with time zone not null,
  created_from text not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint bearer_token_pkey PRIMARY KEY (id),
  constraint bearer_token_hash_key UNIQUE (hash),
  constraint bearer_token_hash_check CHECK ((length(hash) = 32))
);
comment on column access.bearer_token.last_used_at is 'A minute late at most.';
CREATE INDEX bearer_token_account ON access.bearer_token USING btree (account_id);
CREATE INDEX bearer_token_expires ON access.bearer_token USING btree (expires_at);

create table access.client_key (
  id integer generated always as identity,
  hash bytea not null,
  account_id integer not null,
  ending text not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint client_key_pkey PRIMARY KEY (id),
  constraint client_key_hash_key UNIQUE (hash),
  constraint client_key_hash_check CHECK ((length(hash) = 32))
);
CREATE UNIQUE INDEX client_key_account ON access.client_key USING btree (account_id) WHERE (revoked_at IS NULL);

create table access.instant_key_turn (
  turn integer not null,
  constraint instant_key_turn_pkey PRIMARY KEY (turn)
);

create table access.key (
  id integer generated always as identity,
  hash bytea not null,
  type text not null,
  name text,
  ending text not null,
  per_minute integer,
  created_at timestamp with time zone not null,
  created_from text,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  account_id integer,
  replaces integer,
  replaced_at timestamp with time zone,
  scopes text[],
  networks cidr[],
  share smallint,
  constraint key_pkey PRIMARY KEY (id),
  constraint key_hash_key UNIQUE (hash),
  constraint key_hash_check CHECK ((length(hash) = 32)),
  constraint key_networks_check CHECK ((cardinality(networks) > 0)),
  constraint key_per_minute_check CHECK ((per_minute > 0)),
  constraint key_scopes_check CHECK ((cardinality(scopes) > 0)),
  constraint key_share_check CHECK ((share >= 0)),
  constraint key_type_check CHECK ((type = ANY (ARRAY['instant'::text, 'permanent'::text])))
);
comment on column access.key.hash is 'SHA-256 of the key, which itself is nowhere.';
comment on column access.key.ending is 'The last characters of the key, by which its owner knows it.';
comment on column access.key.per_minute is 'Its own limit; null: the limit of its type.';
comment on column access.key.created_from is 'The address that it was given to, until it expires: it limits how many more are given, and what they do together.';
comment on column access.key.account_id is 'Null: made by an operator, or an instant one.';
comment on column access.key.replaces is 'The key that goes on for a while beside this one.';
comment on column access.key.replaced_at is 'When another key replaced it; it expires a day later.';
comment on column access.key.scopes is 'What it may be used for; null: everything.';
comment on column access.key.networks is 'Networks it may be used from; null: all.';
comment on column access.key.share is 'Instant keys of one address with the same number share one limit; null: it has its own.';
CREATE INDEX key_account ON access.key USING btree (account_id) WHERE (account_id IS NOT NULL);
CREATE INDEX key_created_from ON access.key USING btree (created_from, created_at) WHERE (created_from IS NOT NULL);
CREATE INDEX key_expires ON access.key USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table access.key_request (
  id bigint generated always as identity,
  key_id integer not null,
  at timestamp with time zone not null,
  method text not null,
  path text not null,
  status smallint not null,
  duration_ms integer not null,
  query text,
  code text,
  request_id text,
  constraint key_request_pkey PRIMARY KEY (id)
);
comment on table access.key_request is 'The newest requests of each key; older ones are deleted.';
comment on column access.key_request.path is 'Without its query, cut.';
comment on column access.key_request.query is 'Cut, keys in it masked.';
comment on column access.key_request.code is 'Of the refusal; null: it was none.';
CREATE INDEX key_request_at ON access.key_request USING btree (at);
CREATE INDEX key_request_key ON access.key_request USING btree (key_id, id);

create table access.link (
  hash bytea not null,
  email text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint link_pkey PRIMARY KEY (hash),
  constraint link_hash_check CHECK ((length(hash) = 32))
);
comment on table access.link is 'Sent by mail: who holds one reads that mail, and may choose the password of its account.';
CREATE INDEX link_email ON access.link USING btree (email);
CREATE INDEX link_expires ON access.link USING btree (expires_at);

create table access.minute (
  caller text not null,
  began_at timestamp(3) with time zone not null,
  per_minute integer not null,
  used integer not null,
  granted integer not null,
  freed integer default 0 not null,
  constraint minute_pkey PRIMARY KEY (caller)
) with (fillfactor=50);
comment on table access.minute is 'What each caller has used of the minute that its first request began.';
comment on column access.minute.granted is 'How many of the requests that were last asked for.';
comment on column access.minute.freed is 'How many were given back, because they told nothing new.';

create table access.passkey (
  id integer generated always as identity,
  account_id integer not null,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint passkey_pkey PRIMARY KEY (id),
  constraint passkey_credential_id_key UNIQUE (credential_id)
);
comment on table access.passkey is 'WebAuthn credentials, each a second factor of its account.';
comment on column access.passkey.credential_id is 'base64url';
comment on column access.passkey.public_key is 'COSE_Key';
comment on column access.passkey.counter is 'Of its signatures, as it last said; stays 0 where it does not count.';
CREATE INDEX passkey_account ON access.passkey USING btree (account_id);

create table access.pending_sign_in (
  hash bytea not null,
  account_id integer not null,
  expires_at timestamp with time zone not null,
  constraint pending_sign_in_pkey PRIMARY KEY (hash),
  constraint pending_sign_in_hash_check CHECK ((length(hash) = 32))
);
comment on table access.pending_sign_in is 'The first proof was right; the second factor is awaited.';
CREATE INDEX pending_sign_in_account ON access.pending_sign_in USING btree (account_id);
CREATE INDEX pending_sign_in_expires ON access.pending_sign_in USING btree (expires_at);

create table access.place (
  account_id integer not null,
  network text not null,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  constraint place_pkey PRIMARY KEY (account_id, network)
);
comment on table access.place is 'Networks that an account was used from: IPv4 /24, IPv6 /48.';
comment on column access.place.last_at is 'A day late at most.';
CREATE INDEX place_last ON access.place USING btree (last_at);

create table access.recovery_code (
  account_id integer not null,
  hash bytea not null,
  constraint recovery_code_pkey PRIMARY KEY (account_id, hash),
  constraint recovery_code_hash_check CHECK ((length(hash) = 32))
);

create table access.second_factor (
  account_id integer not null,
  secret bytea not null,
  created_at timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  last_step bigint default 0 not null,
  constraint second_factor_pkey PRIMARY KEY (account_id)
);
comment on table access.second_factor is 'TOTP (RFC 6238); in force once confirmed.';
comment on column access.second_factor.last_step is 'The newest time step whose code was used: none is taken twice.';

create table access.session (
  id integer generated always as identity,
  hash bytea not null,
  account_id integer not null,
  created_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  address text not null,
  agent text not null,
  authenticated_at timestamp with time zone default now() not null,
  constraint session_pkey PRIMARY KEY (id),
  constraint session_hash_key UNIQUE (hash),
  constraint session_hash_check CHECK ((length(hash) = 32))
);
comment on column access.session.seen_at is 'A minute late at most.';
comment on column access.session.authenticated_at is 'When its user last proved to be the owner, by password or code.';
CREATE INDEX session_account ON access.session USING btree (account_id);

create table access.siwe_nonce (
  hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint siwe_nonce_pkey PRIMARY KEY (hash),
  constraint siwe_nonce_hash_check CHECK ((length(hash) = 32))
);
comment on table access.siwe_nonce is 'What wallets (ERC-4361) and passkeys are asked to sign: each is good for once.';
CREATE INDEX siwe_nonce_expires ON access.siwe_nonce USING btree (expires_at);

create table access.usage (
  key_id integer not null,
  day date not null,
  requests bigint not null,
  constraint usage_pkey PRIMARY KEY (key_id, day)
);
comment on table access.usage is 'Requests of a key by UTC day, a few seconds late.';

create table access.wallet (
  id integer generated always as identity,
  account_id integer not null,
  address text not null,
  chain_id integer,
  created_at timestamp with time zone not null,
  constraint wallet_pkey PRIMARY KEY (id),
  constraint wallet_address_key UNIQUE NULLS NOT DISTINCT (address, chain_id),
  constraint wallet_address_check CHECK ((address ~ '^0x[0-9a-f]{40}$'::text))
);
comment on table access.wallet is 'Whose signature signs in to an account.';
comment on column access.wallet.chain_id is 'Of a contract, which may be somebody else''s on another chain; null: a key signs.';
CREATE INDEX wallet_account ON access.wallet USING btree (account_id);

create table access.webhook (
  id integer generated always as identity,
  account_id integer not null,
  url text not null,
  chain_id integer not null,
  delivery text not null,
  types text[],
  collection text,
  wallet text,
  secret text not null,
  former_secret text,
  former_until timestamp with time zone,
  created_at timestamp with time zone not null,
  revision integer default 1 not null,
  "position" bigint not null,
  ordinal integer not null,
  failures integer default 0 not null,
  failing_since timestamp with time zone,
  retry_at timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_by text,
  reported_at timestamp with time zone,
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_delivery_check CHECK ((delivery = ANY (ARRAY['latest'::text, 'final'::text]))),
  constraint webhook_disabled_by_check CHECK ((disabled_by = ANY (ARRAY['owner'::text, 'operator'::text, 'failures'::text, 'gone'::text])))
) with (fillfactor=50);
comment on table access.webhook is 'Where an account has events of the feed sent, and how far they were.';
comment on column access.webhook.types is 'Null: all but those of the order book, which are sent where they are named.';
comment on column access.webhook.secret is 'What deliveries are signed with, whsec_ and base64: read for each of them.';
comment on column access.webhook.former_secret is 'The one before it, which signs beside it until former_until.';
comment on column access.webhook.revision is 'Raised by its owner''s changes: who delivers by an earlier one writes nothing more.';
comment on column access.webhook."position" is 'With ordinal: all events up to this id were taken, or are not for it.';
comment on column access.webhook.failures is 'In a row, of the event after that.';
comment on column access.webhook.reported_at is 'When its owner was mailed that it was disabled.';
CREATE INDEX webhook_account ON access.webhook USING btree (account_id);

create table access.webhook_delivery (
  id bigint generated always as identity,
  webhook_id integer not null,
  event_id text not null,
  type text not null,
  at timestamp with time zone not null,
  attempt integer not null,
  status smallint,
  failure text,
  duration_ms integer not null,
  constraint webhook_delivery_pkey PRIMARY KEY (id)
);
comment on table access.webhook_delivery is 'The newest tries of each webhook; older ones are deleted.';
comment on column access.webhook_delivery.status is 'Of the answer; null: there was none.';
CREATE INDEX webhook_delivery_at ON access.webhook_delivery USING btree (at);
CREATE INDEX webhook_delivery_webhook ON access.webhook_delivery USING btree (webhook_id, id);

alter table access.bearer_token add constraint bearer_token_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.client_key add constraint client_key_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.key add constraint key_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.key add constraint key_replaces_fkey
  FOREIGN KEY (replaces) REFERENCES access.key(id) ON DELETE SET NULL;

alter table access.key_request add constraint key_request_key_id_fkey
  FOREIGN KEY (key_id) REFERENCES access.key(id) ON DELETE CASCADE;

alter table access.passkey add constraint passkey_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.pending_sign_in add constraint pending_sign_in_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.place add constraint place_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.recovery_code add constraint recovery_code_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.second_factor add constraint second_factor_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.session add constraint session_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.usage add constraint usage_key_id_fkey
  FOREIGN KEY (key_id) REFERENCES access.key(id) ON DELETE CASCADE;

alter table access.wallet add constraint wallet_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.webhook add constraint webhook_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.webhook_delivery add constraint webhook_delivery_webhook_id_fkey
  FOREIGN KEY (webhook_id) REFERENCES access.webhook(id) ON DELETE CASCADE;

CREATE OR REPLACE FUNCTION access.notify_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
   begin
     notify access_ended;
     return null;
   end $function$;

CREATE OR REPLACE TRIGGER notify_ended AFTER DELETE OR UPDATE OF revoked_at ON access.bearer_token FOR EACH STATEMENT EXECUTE FUNCTION access.notify_ended();

CREATE OR REPLACE TRIGGER notify_ended AFTER DELETE OR UPDATE OF revoked_at, expires_at ON access.key FOR EACH STATEMENT EXECUTE FUNCTION access.notify_ended();

CREATE OR REPLACE TRIGGER notify_ended AFTER DELETE OR UPDATE OF suspended_at ON access.account FOR EACH STATEMENT EXECUTE FUNCTION access.notify_ended();

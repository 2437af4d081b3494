import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { withLock } from "#projections/log/named-lock.ts";
import {
  completeIndexes,
  lackingChains,
  lackingMigrations,
  type MigrationName,
} from "#projections/log/schema.ts";

const schemaFiles = [
  "projections/log/schema.sql",
  "projections/log/functions.sql",
  "projections/traits/rarity.sql",
  "api/accounts/schema.sql",
];

/** For a database that an earlier release made. */
const migrations: Record<MigrationName, (session: Session) => Promise<void>> = {
  "0001-start": adoptFormer,
  "0002-chain-ordinals": useOrdinals,
  "0003-jobs": createJobTable,
  "0004-token-sets": allowTokenSets,
  "0005-webhooks": createWebhookTables,
  "0006-order-events": createOrderEventTables,
  "0007-wallets": createWalletTables,
  "0008-snapshots": createSnapshotTables,
};

/** Brings the database to this version. Safe to run from several processes at once. */
export async function migrate(db: Database): Promise<void> {
  await withLock(db, "migrations", async () => {
    const lacking = await lackingMigrations(db);
    if (lacking.includes("0001-start") && !(await isFormer(db))) {
      await apply(db, lacking, createAll);
    } else {
      for (const name of lacking) await apply(db, [name], migrations[name]);
    }
    for (const { id, ordinal } of await lackingChains(db))
      await sql`insert into log.chain (chain_id, ordinal) values (${id}, ${ordinal})`.execute(db);
    await completeIndexes(db);
  });
}

async function apply(
  db: Database,
  names: readonly MigrationName[],
  change: (session: Session) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (session) => {
    await change(session);
    await sql`insert into ops.migration (name) select unnest(${names}::text[])`.execute(session);
  });
}

/** Makes an empty database one of this release, which no migration follows. */
async function createAll(session: Session): Promise<void> {
  // Functions may name tables that come after them.
  await sql`set local check_function_bodies = off`.execute(session);
  for (const file of schemaFiles) await runSqlFile(session, file);
  await sql.raw(firstRows).execute(session);
}

const firstRows = `
insert into log.head (position, partitions_end) values (0, 0);
select log.add_partitions(0);
-- OpenSea's shared storefront is named in orders by its adapter.
insert into log.contract_alias (chain_id, address, stands_for)
values (1, '\\xa604060890923ff400e8c6f5290461a83aedacec', '\\x495f947276749ce646f68ac8c248420045cb7b5e');
insert into access.instant_key_turn (turn) select generate_series(0, 1023)`;

/** Ids of blocks are made of chains' ordinals, not of their ids; chains that have blocks keep the numbers that those have. */
async function useOrdinals(session: Session): Promise<void> {
  await sql.raw(chainOrdinals).execute(session);
  await runSqlFile(session, "projections/log/functions.sql");
}

const chainOrdinals = `
create table log.chain (
  chain_id integer not null,
  ordinal integer not null,
  constraint chain_pkey primary key (chain_id),
  constraint chain_ordinal_key unique (ordinal),
  constraint chain_ordinal_check check (ordinal >= 1 and ordinal < 1 << 19)
);
comment on table log.chain is 'The number of each chain in ids of blocks. Never changed.';
insert into log.chain (chain_id, ordinal) select distinct chain_id, chain_id from log.block;
alter table log.block drop constraint block_id_holds_chain_and_number,
  add constraint block_id_holds_number check (((block_id >> 12) & 4294967295) = number);
comment on table log.block is 'Blocks that hold facts, of every branch seen. block_id = ordinal of the chain << 44 | number << 12 | fork.'`;

async function createJobTable(session: Session): Promise<void> {
  await sql
    .raw(`
create table ops.job (
  name text not null,
  part text not null,
  runs bigint not null,
  failures bigint not null,
  started_at timestamp with time zone not null,
  duration_ms double precision not null,
  failure text,
  next_at timestamp with time zone,
  constraint job_pkey primary key (name, part)
);
comment on table ops.job is 'What goes on without a request: the last run of each job, and how many there were.';
comment on column ops.job.part is 'Which of several of the name: chain, partner or indexer; empty: there is one.';
comment on column ops.job.failure is 'Of the last run; null: it did not fail.';
comment on column ops.job.next_at is 'Null: the next run waits for something to happen.'`)
    .execute(session);
}

async function createOrderEventTables(session: Session): Promise<void> {
  await sql
    .raw(`
create table engine.book (
  id smallint default 1 not null,
  release text not null,
  listings bigint not null,
  bids bigint not null,
  position bigint not null,
  constraint book_pkey primary key (id),
  constraint book_id_check check (id = 1)
);
comment on table engine.book is 'How far order events are reported, by which release, and of which tables, by their ids; 0: not completely.';

create table engine.book_order (
  order_hash bytea not null,
  chain_id integer not null,
  side text not null,
  contract_id integer not null,
  status text not null,
  reason text,
  terms jsonb not null,
  constraint book_order_pkey primary key (order_hash, chain_id)
) with (fillfactor=85);
comment on table engine.book_order is 'Open orders as their last event told them.';

create table engine.book_price (
  contract_id integer not null,
  side text not null,
  price_wei numeric(78,0) not null,
  constraint book_price_pkey primary key (contract_id, side)
) with (fillfactor=85);
comment on table engine.book_price is 'Floors (ask) and best bids on any token (bid) as they were last told.';

create table engine.order_event (
  position bigint not null,
  ordinal integer not null,
  chain_id integer not null,
  type text not null,
  contract_id integer not null,
  side text not null,
  order_hash bytea,
  status text,
  reason text,
  terms jsonb not null,
  happened_at timestamp with time zone not null,
  constraint order_event_pkey primary key (position, ordinal)
);
comment on table engine.order_event is 'How the book changed, from tick to tick: what the feed tells of orders. Append-only.';
comment on column engine.order_event.position is 'Of the log, up to which the tick applied it';`)
    .execute(session);
}

/** Whoever appends orders appends the sets of tokens that they are for. */
async function allowTokenSets(session: Session): Promise<void> {
  const { order_submitted: order, token_set_submitted: set } = factKind;
  await sql`
    insert into ops.appendable_kind (role, kind)
    select role, ${set}::smallint from ops.appendable_kind where kind = ${order} on conflict do nothing`.execute(
    session,
  );
  await sql`
    comment on column ops.order_budget.spent is
      'Orders, or rows of token sets, as of spent_at; per_second of them are given back'`.execute(
    session,
  );
}

async function createWebhookTables(session: Session): Promise<void> {
  await sql.raw(webhookTables).execute(session);
}

const webhookTables = `
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
  position bigint not null,
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
alter table access.webhook add constraint webhook_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;

alter table access.webhook_delivery add constraint webhook_delivery_webhook_id_fkey
  FOREIGN KEY (webhook_id) REFERENCES access.webhook(id) ON DELETE CASCADE;`;

async function createWalletTables(session: Session): Promise<void> {
  await sql.raw(walletTables).execute(session);
}

const walletTables = `
alter table access.account alter column email drop not null;
alter table access.account alter column password drop not null;
alter table access.account add constraint account_check CHECK (((email IS NULL) = (password IS NULL)));
comment on column access.account.email is 'Lower case; somebody who reads its mail made the account. Null: made by a wallet.';
comment on column access.account.password is 'Argon2id with its parameters and salt; null where there is no address to reset it by.';

create table access.siwe_nonce (
  hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint siwe_nonce_pkey PRIMARY KEY (hash),
  constraint siwe_nonce_hash_check CHECK ((length(hash) = 32))
);
comment on table access.siwe_nonce is 'Of messages that wallets may sign to sign in (ERC-4361): each is good for one.';
CREATE INDEX siwe_nonce_expires ON access.siwe_nonce USING btree (expires_at);

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
alter table access.wallet add constraint wallet_account_id_fkey
  FOREIGN KEY (account_id) REFERENCES access.account(id) ON DELETE CASCADE;`;

async function createSnapshotTables(session: Session): Promise<void> {
  await sql
    .raw(`
create table ops.holder_snapshot (
  number integer generated always as identity,
  snapshot_id bytea not null,
  name text not null,
  chain_id integer not null,
  block_number bigint not null,
  block_hash bytea,
  block_at timestamp with time zone,
  min_units numeric(78,0) not null,
  terms jsonb not null,
  root bytea not null,
  holders integer not null,
  units numeric(78,0) not null,
  tree bytea not null,
  created_at timestamp with time zone default now() not null,
  constraint holder_snapshot_pkey primary key (number),
  constraint holder_snapshot_snapshot_id_key unique (snapshot_id)
);
comment on table ops.holder_snapshot is 'Who held tokens at final blocks, stored for good: contracts verify claims by the root.';
comment on column ops.holder_snapshot.snapshot_id is 'Hash of the terms with name, chain and block.';
comment on column ops.holder_snapshot.block_hash is 'Null, as block_at: nothing indexed happened in the block.';
comment on column ops.holder_snapshot.tree is 'Nodes of 32 bytes, the root first. Hashes do not compress, so that a proof reads its own alone.';

create table ops.snapshot_holder (
  number integer not null,
  rank integer not null,
  owner bytea not null,
  units numeric(78,0) not null,
  leaf integer not null,
  constraint snapshot_holder_pkey primary key (number, rank),
  constraint snapshot_holder_owner_key unique (number, owner)
);
comment on column ops.snapshot_holder.leaf is 'Node of the tree.';`)
    .execute(session);
}

/** The last migration of the releases that had 49 of them, in place of one start. */
const lastOfFormer = "0081-history-proof";

/** Whether a database was made by those releases. */
async function isFormer(session: Session): Promise<boolean> {
  const { rows } = await sql<{ is: boolean }>`
    select to_regclass('ops.later_migration') is not null as is`.execute(session);
  return rows[0]?.is ?? false;
}

/** Takes away what no release uses any more. Throws where a migration is lacking, or facts are in archives alone. */
async function adoptFormer(session: Session): Promise<void> {
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

/** Runs the statements of a file of the project. */
async function runSqlFile(session: Session, file: string): Promise<void> {
  const path = new URL(`../../${file}`, import.meta.url);
  await sql.raw(await readFile(path, "utf8")).execute(session);
}

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

const logSchema = "projections/log/schema.sql";
const logFunctions = "projections/log/functions.sql";
const accountsSchema = "api/accounts/schema.sql";
const schemaFiles = [...[logSchema, logFunctions, "projections/traits/rarity.sql", accountsSchema]];

/** For a database that an earlier release made. What alters a table that is `madeOf` a schema file says `if not exists`. */
const migrations: Record<MigrationName, (session: Session) => Promise<void>> = {
  "0001-start": adoptFormer,
  "0002-chain-ordinals": useOrdinals,
  "0003-jobs": madeOf(logSchema, "ops.job"),
  "0004-token-sets": allowTokenSets,
  "0005-webhooks": madeOf(accountsSchema, "access.webhook", "access.webhook_delivery"),
  "0006-order-events": madeOf(logSchema, "engine.book(?:_order|_price)?", "engine.order_event"),
  "0007-wallets": allowWallets,
  "0008-snapshots": madeOf(logSchema, "ops.holder_snapshot", "ops.snapshot_holder"),
  "0009-store-staged": (session) => runSqlFile(session, logFunctions),
  "0010-differing-blocks": nameDifferingBlocks,
  "0011-request-log": explainRequests,
  "0012-passkeys": madeOf(
    accountsSchema,
    "access.passkey",
    "access.siwe_nonce is",
    "access.pending_sign_in is",
  ),
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

/** The oldest server that has every function that statements here call (`hashbyteaextended`). */
export const oldestServer = 18;

async function refuseOlderServer(session: Session): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select current_setting('server_version_num')::int / 10000 as version`.execute(session);
  const version = rows[0]?.version ?? 0;
  if (version < oldestServer)
    throw new Error(
      `PostgreSQL ${oldestServer} is needed, and the server is PostgreSQL ${version}`,
    );
}

/** Makes an empty database one of this release, which no migration follows. */
async function createAll(session: Session): Promise<void> {
  await refuseOlderServer(session);
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
  await runSqlFile(session, logSchema, ["log.chain"]);
  await sql.raw(chainOrdinals).execute(session);
  await runSqlFile(session, logFunctions);
}

const chainOrdinals = `
insert into log.chain (chain_id, ordinal) select distinct chain_id, chain_id from log.block;
alter table log.block drop constraint block_id_holds_chain_and_number,
  add constraint block_id_holds_number check (((block_id >> 12) & 4294967295) = number);
comment on table log.block is 'Blocks that hold facts, of every branch seen. block_id = ordinal of the chain << 44 | number << 12 | fork.'`;

/** Whoever appends orders appends the sets of tokens that they are for. */
async function allowTokenSets(session: Session): Promise<void> {
  const { order_submitted: order, token_set_submitted: set } = factKind;
  await sql`
    insert into ops.appendable_kind (role, kind)
    select role, ${set}::smallint from ops.appendable_kind where kind = ${order} on conflict do nothing`.execute(
    session,
  );
  await runSqlFile(session, logSchema, ["ops.order_budget.spent"]);
}

/** An account that a wallet made has neither an address nor a password. */
async function allowWallets(session: Session): Promise<void> {
  await sql`
    alter table access.account alter email drop not null, alter password drop not null,
      add constraint account_check check ((email is null) = (password is null))`.execute(session);
  const made = ["access.siwe_nonce", "access.wallet"];
  const told = ["access.account.email", "access.account.password"];
  await runSqlFile(session, accountsSchema, [...made, ...told]);
}

/** A proof that counted blocks which differ, without naming them, begins anew. */
async function nameDifferingBlocks(session: Session): Promise<void> {
  await sql`delete from ops.history_proof where differing > 0`.execute(session);
  await sql`
    alter table ops.history_proof alter column differing drop default,
      alter column differing type bigint[] using '{}', alter column differing set default '{}'`.execute(
    session,
  );
  await runSqlFile(session, logSchema, ["ops.history_proof.differing"]);
}

async function explainRequests(session: Session): Promise<void> {
  await sql`
    alter table access.key_request add column query text, add column code text, add column request_id text`.execute(
    session,
  );
  await runSqlFile(session, accountsSchema, [
    "access.key_request.query",
    "access.key_request.code",
  ]);
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
  await runSqlFile(session, logSchema, ["log.head.partitions_end", "ops.migration"]);
  await runSqlFile(session, logFunctions);
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
alter table log.head alter column partitions_end set not null`;

/** Makes tables as a schema file says now. */
function madeOf(file: string, ...tables: readonly string[]) {
  return (session: Session): Promise<void> => runSqlFile(session, file, tables);
}

/** Runs the statements of a file of the project: all, or those about some tables, and comments on some columns. */
async function runSqlFile(
  session: Session,
  file: string,
  subjects?: readonly string[],
): Promise<void> {
  const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
  const statements = subjects === undefined ? text : statementsOn(text, subjects);
  await sql.raw(statements).execute(session);
}

function statementsOn(text: string, subjects: readonly string[]): string {
  const kinds = "create table|comment on table|comment on column|create index \\w+ on|alter table";
  const about = new RegExp(`^(?:${kinds}) (?:${subjects.join("|")})\\b`, "i");
  const statements = text.split(/;\n+/).filter((statement) => about.test(statement));
  return statements.join(";\n");
}

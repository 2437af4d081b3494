import { sql } from "kysely";
import type { Database, Session } from "../../../projections/database.ts";
import { completeIndexes } from "../../../projections/log/partitions/complete-indexes.ts";
import {
  type MigrationName,
  pendingMigrations,
} from "../../../projections/log/pending-migrations.ts";
import { withLock } from "../../../projections/named-lock.ts";
import { adoptFormer, isFormer } from "./adopt-former.ts";
import { runSqlFile } from "./run-sql-file.ts";

/** What makes an empty database one of this release. */
const schemaFiles = [
  "projections/log/schema.sql",
  "projections/log/functions.sql",
  "projections/reads/rarity/schema.sql",
  "api/serve/accounts/schema.sql",
];

const migrations: Record<MigrationName, (session: Session) => Promise<void>> = {
  "0001-start": start,
};

/** Brings the database to this version. Safe to run from several processes at once. */
export async function migrate(db: Database): Promise<void> {
  await withLock(db, "migrations", async () => {
    for (const name of await pendingMigrations(db)) {
      await db.transaction().execute(async (session) => {
        await migrations[name](session);
        await sql`insert into ops.migration (name) values (${name})`.execute(session);
      });
    }
    await completeIndexes(db);
  });
}

async function start(session: Session): Promise<void> {
  if (await isFormer(session)) return adoptFormer(session);
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

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { pino } from "pino";
import { expect, it } from "vitest";
import { type EmbeddedPostgres, startPostgres } from "#ops/postgres/embedded.ts";
import { migrate } from "#ops/postgres/migrate.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { tick } from "#projections/engine/tick.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { dumpState } from "../support/chain/chain-replay.ts";
import { block, dumpTable, setBlocks } from "../support/database/given.ts";
import { appendTrades, prepare, projections } from "../support/database/operator.ts";
import { createDatabase } from "../support/database/postgres.ts";

/** A server of its own: its transaction ids and sequences start from the beginning. */
async function withFreshCluster(work: (db: Database) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "fresh-cluster-"));
  const orphanGuard = startOrphanGuard();
  const server: EmbeddedPostgres = await startPostgres({
    dataDir: directory,
    logger: pino({ level: "silent" }),
    durable: false,
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
  });
  const db = openDatabase({ url: server.url, applicationName: "test", onIdleError: () => {} });
  try {
    await migrate(db);
    await work(db);
  } finally {
    await db.destroy();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const schemas = ["log", "ops", "engine", ...projections.map(({ name }) => schemaOf(name))];

/** Every row and every counter of an identity, as a dump of data alone restores them. */
async function restore(from: Database, to: Database): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "dump-"));
  // Run by root, the servers are another user's.
  await chmod(directory, 0o777);
  const { rows } = await sql<{ table: string; columns: string }>`
    select format('%I.%I', c.table_schema, c.table_name) as table,
           string_agg(quote_ident(c.column_name), ', ' order by c.ordinal_position) as columns
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = any (${schemas}) and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
      and c.table_name not like 'kysely%'
      and not (select p.relispartition from pg_class p where p.oid = format('%I.%I', c.table_schema, c.table_name)::regclass)
    group by 1`.execute(from);
  try {
    for (const { table, columns } of rows) {
      const file = join(directory, table);
      await sql.raw(`copy (select ${columns} from ${table}) to '${file}'`).execute(from);
      await sql.raw(`truncate ${table} cascade`).execute(to);
      await sql.raw(`copy ${table} (${columns}) from '${file}'`).execute(to);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  await sql`
    select setval(pg_get_serial_sequence('log.contract', 'contract_id'), max(contract_id)) from log.contract
  `.execute(to);
}

it("a database restored into a fresh cluster goes on where it stood, and no fact is skipped", async () => {
  const origin = await createDatabase();
  try {
    const targets = await prepare(origin.db);
    await appendTrades(origin.db, 1, 40);
    await tick(origin.db, targets);
    // Facts that the projections have not read yet, a dropped block among them.
    await appendTrades(origin.db, 41, 60);
    await setBlocks(origin.db, "block_retracted", [block(1, 50)]);

    await withFreshCluster(async (db) => {
      await prepare(db);
      await restore(origin.db, db);
      for (const one of [origin.db, db]) {
        await appendTrades(one, 61, 80);
        while ((await tick(one, targets, 7)).outcome === "moved");
      }

      expect(await dumpState(db)).toEqual(await dumpState(origin.db));
      expect(await dumpTable(db, "engine.checkpoint").then((all) => all.length)).toBe(
        targets.length,
      );
      const { rows } = await sql<{ facts: bigint; head: bigint }>`
        select (select count(*) from log.fact) as facts, (select position from log.head) as head`.execute(
        db,
      );
      expect(rows[0]?.facts).toBe(rows[0]?.head);
    });
  } finally {
    await origin.drop();
  }
});

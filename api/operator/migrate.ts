import { openDatabase } from "../../projections/database.ts";
import { migrate as migrateDatabase, pendingMigrations } from "../../projections/log/migrate.ts";
import { readConfig, readEnvironment } from "../config.ts";
import { createLogger } from "../logger.ts";
import { startPostgres } from "../postgres/embedded.ts";
import { joinInstallation } from "../supervisor/installation.ts";
import { startLeash } from "../supervisor/leash.ts";

/** Migrates the database of the configuration; an embedded one that is not running is started meanwhile. */
export async function migrate({ json }: { json?: boolean }): Promise<void> {
  const { database, dataDir, log } = readConfig(joinInstallation(readEnvironment()));
  const leash = startLeash();
  const sink = (line: string) => void process.stderr.write(`${line}\n`);
  const server =
    database.url === null
      ? await startPostgres({
          dataDir,
          logger: createLogger("op", log.level, sink),
          onSpawn: (pid) => leash.hold(pid, "SIGINT"),
        })
      : undefined;
  const db = openDatabase({
    url: server?.url ?? database.url ?? "",
    applicationName: "op migrate",
    max: 2,
    onIdleError: () => {},
  });
  try {
    const pending = await pendingMigrations(db);
    await migrateDatabase(db);
    const words = pending.length === 0 ? "the database is up to date" : `ran ${pending.join(", ")}`;
    process.stdout.write(json ? `${JSON.stringify({ ran: pending })}\n` : `${words}\n`);
  } finally {
    await db.destroy();
    await server?.stop();
  }
}

import process from "node:process";
import { Command, CommanderError } from "commander";
import { ConfigurationError, configurationExitCode } from "../config/configuration-error.ts";
import { addAccounts } from "./access/accounts.ts";
import { addAnalysts } from "./access/analysts.ts";
import { addKeys } from "./access/keys.ts";
import { addMakers } from "./access/makers.ts";
import { addRoles } from "./access/roles.ts";
import { addAnalytics } from "./analytics/analytics.ts";
import { addCollections } from "./collections/collections.ts";
import { addRoyalties } from "./collections/royalties.ts";
import { addExport } from "./export/export.ts";
import { addDoctor } from "./inspect/doctor.ts";
import { addExplain } from "./inspect/explain.ts";
import { addSql } from "./inspect/sql.ts";
import { addStatus } from "./inspect/status.ts";
import { addTail } from "./inspect/tail.ts";
import { addAudit } from "./log/audit.ts";
import { addBackfill } from "./log/backfill.ts";
import { addLog } from "./log/partitions.ts";
import { addPrices } from "./log/prices.ts";
import { addRecover } from "./log/recover.ts";
import { addReindex } from "./log/reindex.ts";
import { addSourceCommands } from "./log/sources.ts";
import { addPrune } from "./projections/prune.ts";
import { addQuarantine } from "./projections/quarantine.ts";
import { addRebuild } from "./projections/rebuild.ts";
import { addRollback } from "./projections/rollback.ts";
import { addVerify } from "./projections/verify.ts";
import { config } from "./service/config.ts";
import { migrate } from "./service/migrate.ts";
import { addPause } from "./service/pause.ts";

/** Exit codes: 0 done, 1 failed, 2 usage error, 78 configuration error. */
async function run(): Promise<number> {
  const program = new Command("op")
    .description("operator commands")
    // Options after a command are that command's, and not those of the one above it.
    .enablePositionalOptions()
    .exitOverride();
  program
    .command("config")
    .description("print the settings in effect, with keys and passwords masked")
    .option("--json", "print JSON")
    .option("--table", "print the table of docs/configuration.md instead")
    .option("--example", "print the contents of .env.example instead")
    .exitOverride()
    .action(config);
  program
    .command("migrate")
    .description("migrate the database to this version")
    .option("--json", "print JSON")
    .exitOverride()
    .action(migrate);
  addStatus(program);
  addTail(program);
  addExplain(program);
  addSql(program);
  addVerify(program);
  addRebuild(program);
  addRollback(program);
  addPause(program);
  addKeys(program);
  addMakers(program);
  addAccounts(program);
  addCollections(program);
  addRoyalties(program);
  addAnalysts(program);
  addAnalytics(program);
  addRoles(program);
  addExport(program);
  addPrices(program);
  addPrune(program);
  addQuarantine(program);
  addDoctor(program);
  addAudit(program);
  addBackfill(program);
  addLog(program);
  addReindex(program);
  addSourceCommands(program);
  addRecover(program);
  try {
    await program.parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // commander has already printed the usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n`);
    return error instanceof ConfigurationError ? configurationExitCode : 1;
  }
}

process.exit(await run());

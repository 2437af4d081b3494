import process from "node:process";
import { Command, CommanderError } from "commander";
import { ConfigurationError, configurationExitCode } from "../config/config.ts";
import { addAccounts } from "./accounts.ts";
import { addAnalysts } from "./analysts.ts";
import { addAudit } from "./audit.ts";
import { addBackfill } from "./backfill.ts";
import { addCollections } from "./collections.ts";
import { config } from "./config.ts";
import { addDoctor } from "./doctor.ts";
import { addExplain } from "./explain.ts";
import { addExport } from "./export.ts";
import { addKeys } from "./keys.ts";
import { migrate } from "./migrate.ts";
import { addPause } from "./pause.ts";
import { addPrices } from "./prices.ts";
import { addPrune } from "./prune.ts";
import { addQuarantine } from "./quarantine.ts";
import { addRebuild } from "./rebuild.ts";
import { addRecover } from "./recover.ts";
import { addReindex } from "./reindex.ts";
import { addRollback } from "./rollback.ts";
import { addStatus } from "./status.ts";
import { addTail } from "./tail.ts";
import { addVerify } from "./verify.ts";

/** Exit codes: 0 done, 1 failed, 2 the command line makes no sense, 78 the configuration cannot be used. */
async function run(): Promise<number> {
  const program = new Command("op").description("operator commands").exitOverride();
  program
    .command("config")
    .description("print the settings in force, keys and passwords masked")
    .option("--json", "for machines")
    .option("--table", "the README's table of all settings instead")
    .option("--example", "the contents of .env.example instead")
    .exitOverride()
    .action(config);
  program
    .command("migrate")
    .description("bring the database to this version")
    .option("--json", "for machines")
    .exitOverride()
    .action(migrate);
  addStatus(program);
  addTail(program);
  addExplain(program);
  addVerify(program);
  addRebuild(program);
  addRollback(program);
  addPause(program);
  addKeys(program);
  addAccounts(program);
  addCollections(program);
  addAnalysts(program);
  addExport(program);
  addPrices(program);
  addPrune(program);
  addQuarantine(program);
  addDoctor(program);
  addAudit(program);
  addBackfill(program);
  addReindex(program);
  addRecover(program);
  try {
    await program.parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // The command line's own complaint is printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const words = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${words}\n`);
    return error instanceof ConfigurationError ? configurationExitCode : 1;
  }
}

process.exit(await run());

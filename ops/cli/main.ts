import process from "node:process";
import { Command, CommanderError } from "commander";
import { ConfigurationError, configurationExitCode } from "../config/read-config.ts";
import { terminalLines } from "../output/terminal-text.ts";
import { addAccounts, addKeys } from "./accounts.ts";
import { addAnalytics } from "./analytics/analytics.ts";
import { addExport } from "./analytics/export.ts";
import { addAudit, addBackfill } from "./audit.ts";
import { addCollections } from "./collections.ts";
import { addDiff } from "./diff.ts";
import { addExplain, addTail } from "./facts.ts";
import { addMakers } from "./makers.ts";
import { addPrices } from "./prices.ts";
import { addQuarantine } from "./quarantine.ts";
import { addLog, addPrune, addRebuild, addRollback } from "./rebuild.ts";
import { addRecover, addReindex } from "./reindex.ts";
import { addAnalysts, addRoles } from "./roles.ts";
import { addRoyalties } from "./royalties.ts";
import { addPause, migrateConfigured, printConfig } from "./service.ts";
import { addSourceCommands } from "./sources.ts";
import { addSql } from "./sql.ts";
import { addDoctor, addStatus } from "./status.ts";
import { addVerify } from "./verify.ts";
import { addWebhooks } from "./webhooks.ts";

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
    .option("--table", "print the table of docs/configuration.md instead")
    .option("--example", "print the contents of .env.example instead")
    .action(printConfig);
  program
    .command("migrate")
    .description("migrate the database to this version")
    .action(migrateConfigured);
  addStatus(program);
  addTail(program);
  addExplain(program);
  addSql(program);
  addVerify(program);
  addDiff(program);
  addRebuild(program);
  addRollback(program);
  addPause(program);
  addKeys(program);
  addMakers(program);
  addAccounts(program);
  addWebhooks(program);
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
  addJsonFlags(program);
  try {
    await program.parseAsync();
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // commander has already printed the usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${terminalLines(message)}\n`);
    return error instanceof ConfigurationError ? configurationExitCode : 1;
  }
}

function addJsonFlags({ commands }: Command): void {
  for (const command of commands) {
    addJsonFlags(command);
    const isGroup = command.commands.length > 0;
    const isKnown = command.options.some(({ long }) => long === "--json");
    if (!(isGroup || isKnown)) command.option("--json", "print JSON");
  }
}

process.exit(await run());

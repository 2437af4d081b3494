import { Argument, type Command } from "commander";
import { type SwitchName, setPaused, switchNames } from "#projections/log/operators.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { readConfig, readEnvironment } from "../config/read-config.ts";
import { renderDocument, renderExample, renderInEffect } from "../config/render.ts";
import { readDatabaseRoles } from "../postgres/database-roles.ts";
import { migrate as migrateDatabase } from "../postgres/migrate.ts";
import { applyRights } from "../postgres/rights.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print } from "./output.ts";

/** `op pause` and `op resume` */
export function addPause(program: Command): void {
  for (const verb of ["pause", "resume"] as const) {
    program
      .command(verb)
      .description(
        `${verb} parts of the service: ${switchNames.join(", ")}; stored data stays available`,
      )
      .addArgument(new Argument("<part...>").choices(switchNames))
      .action(async (names: SwitchName[], { json }: JsonFlag) => {
        const switches = await setSwitches(verb, names);
        print(json, { switches }, switches.map(lineOf));
      });
  }
}

type Switched = { name: SwitchName; isPaused: boolean; hasChanged: boolean };

async function setSwitches(verb: "pause" | "resume", names: SwitchName[]): Promise<Switched[]> {
  const isPaused = verb === "pause";
  return await withDatabase(verb, async ({ db }) => {
    const switches: Switched[] = [];
    for (const name of names) {
      switches.push({ name, isPaused, hasChanged: await setPaused(db, name, isPaused) });
    }
    return switches;
  });
}

function lineOf({ name, isPaused, hasChanged }: Switched): string {
  if (!hasChanged) return `${name} was already ${isPaused ? "paused" : "running"}`;
  return `${name} is ${isPaused ? "paused" : "resumed"} within a second`;
}

/** Migrates the configured database. */
export async function migrateConfigured({ json }: JsonFlag): Promise<void> {
  await withDatabase(
    "migrate",
    async ({ db }) => {
      const ran = await pendingMigrations(db);
      await migrateDatabase(db);
      const roles = await readDatabaseRoles(db);
      if (roles !== null) await applyRights(db, roles);
      print(json, { ran }, [
        ran.length === 0 ? "the database is up to date" : `ran ${ran.join(", ")}`,
      ]);
    },
    { mayLackMigrations: true },
  );
}

type Options = { json?: boolean; table?: boolean; example?: boolean };

export function printConfig(options: Options): void {
  process.stdout.write(`${text(options).trimEnd()}\n`);
}

function text({ json, table, example }: Options): string {
  if (table) return renderDocument();
  if (example) return renderExample();
  const environment = readEnvironment();
  readConfig(environment);
  const settings = renderInEffect(environment);
  if (json) return JSON.stringify(settings);
  return settings
    .map(
      ({ name, value, isDefault }) => `${name.padEnd(30)}${value}${isDefault ? "  (default)" : ""}`,
    )
    .join("\n");
}

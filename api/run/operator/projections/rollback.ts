import type { Command } from "commander";
import type { Database } from "#projections/log/database.ts";
import { isCurrent, readCheckpoints } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { rollBack } from "#projections/engine/rebuild.ts";
import { shadowSchemas } from "#projections/engine/shadow-schema.ts";
import { bindViews } from "#projections/analytics/bind-views.ts";
import { configuredProjections } from "#api/run/inspection/configured-projections.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chooseProjections } from "./choose-projections.ts";

/** `op rollback [projection]` */
export function addRollback(program: Command): void {
  program
    .command("rollback")
    .description("restore the tables that the last rebuild replaced")
    .argument("[projection]", "default: all with previous tables")
    .option("--json", "print JSON")
    .action(async (name: string | undefined, { json }: { json?: boolean }, command: Command) => {
      await withDatabase(
        "rollback",
        async ({ db, config }) => {
          const all = configuredProjections(config);
          const named = chooseProjections(command, all, name === undefined ? [] : [name]);
          const outcomes: Outcome[] = [];
          for (const one of all.filter((projection) => named.includes(projection.name))) {
            outcomes.push(await rollBackOne(db, one));
          }
          const rolledBack = outcomes.flatMap((one) => (one.back === null ? [] : [one.back]));
          print(
            json,
            { rolledBack },
            outcomes.map(({ line }) => line),
          );
          if (!outcomes.some(({ isDone }) => isDone)) process.exitCode = 1;
        },
        { as: "projector" },
      );
    });
}

type Outcome = {
  /** Whether the tables from before the last rebuild are served: restored now, or by an earlier rollback. */
  isDone: boolean;
  back: { projection: string; version: number; position: number } | null;
  line: string;
};

async function rollBackOne(db: Database, projection: Projection): Promise<Outcome> {
  const { name } = projection;
  const restored = await rollBack(db, name, bindViews);
  if (restored === null) {
    const isDone = (await readCheckpoints(db)).has(shadowSchemas(name).replaced);
    return {
      isDone,
      back: null,
      line: `${name}: ${isDone ? "already rolled back" : "no previous tables"}`,
    };
  }
  const { version, position } = restored;
  const advice = isCurrent(restored, projection)
    ? "the projector catches up from there"
    : "run a projector of that version: the one of this version would rebuild it";
  return {
    isDone: true,
    back: { projection: name, version, position: Number(position) },
    line: `${name}: back to version ${version} at position ${position}; ${advice}`,
  };
}

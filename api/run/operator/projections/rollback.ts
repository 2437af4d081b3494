import type { Command } from "commander";
import type { Database } from "../../../../projections/database.ts";
import { shadowSchemas } from "../../../../projections/engine/shadow-schema.ts";
import { isCurrent, readCheckpoints } from "../../../../projections/engine/checkpoint.ts";
import type { Projection } from "../../../../projections/engine/projection.ts";
import { rollBack } from "../../../../projections/engine/rebuild.ts";
import { configuredProjections, withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { chooseProjections } from "./choose-projections.ts";

/** `op rollback [projection]` */
export function addRollback(program: Command): void {
  program
    .command("rollback")
    .description("put back the tables that the last rebuild replaced")
    .argument("[projection]", "every one with tables kept when none is named")
    .option("--json", "for machines")
    .action(async (name: string | undefined, { json }: { json?: boolean }, command: Command) => {
      await withDatabase("rollback", async ({ db, config }) => {
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
      });
    });
}

type Outcome = {
  /** Whether what the last rebuild replaced serves: now, or since an earlier rollback. */
  isDone: boolean;
  back: { projection: string; version: number; position: number } | null;
  line: string;
};

async function rollBackOne(db: Database, projection: Projection): Promise<Outcome> {
  const { name } = projection;
  const kept = await rollBack(db, name);
  if (kept === null) {
    const isDone = (await readCheckpoints(db)).has(shadowSchemas(name).replaced);
    return {
      isDone,
      back: null,
      line: `${name}: ${isDone ? "rolled back already" : "nothing is kept"}`,
    };
  }
  const { version, position } = kept;
  const advice = isCurrent(kept, projection)
    ? "it catches up from there"
    : "a program of that version has to move it: the projector of this one would rebuild it";
  return {
    isDone: true,
    back: { projection: name, version, position: Number(position) },
    line: `${name}: back to version ${version} at position ${position}; ${advice}`,
  };
}

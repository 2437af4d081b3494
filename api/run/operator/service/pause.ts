import { Argument, type Command } from "commander";
import { type SwitchName, setPaused, switchNames } from "#projections/log/operators.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

/** `op pause` and `op resume` */
export function addPause(program: Command): void {
  for (const verb of ["pause", "resume"] as const) {
    program
      .command(verb)
      .description(
        `${verb} parts of the service: ${switchNames.join(", ")}; stored data stays available`,
      )
      .addArgument(new Argument("<part...>").choices(switchNames))
      .option("--json", "print JSON")
      .action(async (names: SwitchName[], { json }: { json?: boolean }) => {
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

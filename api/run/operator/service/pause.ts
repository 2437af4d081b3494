import { Argument, type Command } from "commander";
import { type SwitchName, setPaused, switchNames } from "../../../../projections/log/switches.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

/** `op pause` and `op resume` */
export function addPause(program: Command): void {
  const words = { pause: "stop work for a while", resume: "let it go on" };
  for (const verb of ["pause", "resume"] as const) {
    program
      .command(verb)
      .description(`${words[verb]}: ${switchNames.join(", ")}; what is served stays served`)
      .addArgument(new Argument("<work...>").choices(switchNames))
      .option("--json", "for machines")
      .action(async (names: SwitchName[], { json }: { json?: boolean }) => {
        await withDatabase(verb, async ({ db }) => {
          const switches = [];
          for (const name of names) {
            const isPaused = verb === "pause";
            const hasChanged = await setPaused(db, name, isPaused);
            switches.push({ name, isPaused, hasChanged });
          }
          print(
            json,
            { switches },
            switches.map(({ name, isPaused, hasChanged }) => {
              const state = isPaused ? "stands still within a second" : "goes on within a second";
              return `${name} ${hasChanged ? state : "did so already"}`;
            }),
          );
        });
      });
  }
}

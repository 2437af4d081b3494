import type { Command } from "commander";
import type { Projection } from "../../../../projections/engine/projection.ts";

/** The names given, or all where none is; a name that is no projection's makes no sense. */
export function chooseProjections(
  command: Command,
  projections: readonly Projection[],
  names: readonly string[],
): string[] {
  const known = projections.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    command.error(`no projection ${unknown.join(", ")}; there are ${known.join(", ")}`, {
      exitCode: 2,
    });
  }
  return names.length === 0 ? known : [...names];
}

import type { Command } from "commander";
import type { Projection } from "#projections/engine/projection.ts";

/** The given names, or all. An unknown name is a usage error. */
export function chooseProjections(
  command: Command,
  projections: readonly Projection[],
  names: readonly string[],
): string[] {
  const known = projections.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    command.error(`unknown projection ${unknown.join(", ")}; there are ${known.join(", ")}`, {
      exitCode: 2,
    });
  }
  return names.length === 0 ? known : [...names];
}

import { join } from "node:path";

/** Programs of the project that run in processes of their own; `build` compiles them and prints where they are. */
export type Program = "service" | "op" | "devnet" | "build";

const launcher = join(import.meta.dirname, "launch.mjs");

/** Arguments of Node that run a program, compiled once for all processes. */
export const launch = (program: Program, ...args: readonly string[]): string[] => [
  launcher,
  program,
  ...args,
];

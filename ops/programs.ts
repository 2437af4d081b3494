import { join, resolve } from "node:path";

/** Programs of the project that run in processes of their own. */
type Program = "service" | "op" | "devnet";

const launcher = join(import.meta.dirname, "launch.mjs");

/**
 * Flags of Node for a process that answers requests: a young generation that is collected every 30th page and not every
 * ninth, so that at most one in twenty waits for a collection. By the maximum alone it would stay at its first size.
 */
export const answeringFlags: readonly string[] = [
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
];

/** The same for one that nobody waits for: half the memory, for some more of its processor time. */
const unhurriedFlags: readonly string[] = ["--optimize-for-size"];

/** Flags of Node for the process of a role, by its name. */
export const roleFlags: { readonly [role: string]: readonly string[] } = {
  api: answeringFlags,
  jobs: unhurriedFlags,
  console: unhurriedFlags,
};

/** Arguments of Node that run a program. */
export const launch = (program: Program, ...args: readonly string[]): string[] => [
  launcher,
  program,
  ...args,
];

/** Where the project is installed: the directory of `package.json` and `ponder.config.ts`. */
export const projectRoot = resolve(import.meta.dirname, "..");
export const ponderDirectory = join(projectRoot, "node_modules/ponder");

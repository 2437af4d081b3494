import { join, resolve } from "node:path";

/** Where the project is installed: the directory of `package.json` and `ponder.config.ts`. */
export const projectRoot = resolve(import.meta.dirname, "../../..");
export const ponderDirectory = join(projectRoot, "node_modules/ponder");

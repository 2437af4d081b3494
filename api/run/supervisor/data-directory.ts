import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError } from "../config/config.ts";

/** Makes `DATA_DIR`; one that cannot be made or written is the operator's to change. */
export function makeDataDirectory(path: string): void {
  try {
    makeWithParents(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ConfigurationError([
      `DATA_DIR: expected a directory that can be made and written, got ${JSON.stringify(path)} (${code}). Example: DATA_DIR=/var/lib/orders`,
    ]);
  }
}

/** Step by step: Node's own recursive mkdir does not come back from a file system that refuses directories. */
function makeWithParents(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) {
    if (found.isDirectory()) return;
    throw Object.assign(new Error(`${path} is no directory`), { code: "ENOTDIR" });
  }
  makeWithParents(dirname(path));
  mkdirSync(path);
}

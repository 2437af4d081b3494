import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigurationError } from "#ops/config/read-config.ts";

/** Creates `DATA_DIR`. Throws a configuration error when it cannot be created or written. */
export function makeDataDirectory(path: string): void {
  try {
    makeWithParents(path);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new ConfigurationError([
      `DATA_DIR: expected a directory that can be created and written, got ${JSON.stringify(path)} (${code}). Example: DATA_DIR=/var/lib/orders`,
    ]);
  }
}

/** Creates one directory at a time: Node's recursive mkdir never returns on a file system that refuses directories. */
function makeWithParents(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) {
    if (found.isDirectory()) return;
    throw Object.assign(new Error(`${path} is not a directory`), { code: "ENOTDIR" });
  }
  makeWithParents(dirname(path));
  mkdirSync(path);
}

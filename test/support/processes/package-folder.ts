import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/** A folder of `test` with packages of its own. */
export const packageFolder = (name: string): string => resolve(import.meta.dirname, "../..", name);

/**
 * Installs the packages of a folder as its lock file says, where that was not done: npm writes its own list once every
 * one is in place. Once before anything starts a server: a process that loads a library of which another still writes
 * the last part ends with SIGBUS. Not by `npm ci`, which wants the entries of other platforms' binaries, too, and npm
 * leaves them out of such a lock file.
 */
export function installPackages(name: string): void {
  const cwd = packageFolder(name);
  if (existsSync(join(cwd, "node_modules/.package-lock.json"))) return;
  execFileSync("npm", ["install", "--no-save", "--ignore-scripts"], {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

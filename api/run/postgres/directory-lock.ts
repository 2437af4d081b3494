import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { startTimeOf } from "./processes.ts";

/** A process, so named that a later one with the same id is not taken for it. */
export type ProcessIdentity = { pid: number; startTime: string | undefined };

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid),
});
export const isAlive = ({ pid, startTime }: ProcessIdentity): boolean =>
  startTime !== undefined && startTimeOf(pid) === startTime;

/** Another living process runs the server of the directory. */
export class DirectoryInUseError extends Error {}

/**
 * Makes this process the one that runs the server of a directory, until it lets go or dies.
 * The note names the process by id and birth, so that one left by a killed process claims nothing.
 */
export function lockDirectory(file: string): () => void {
  const note = JSON.stringify(thisProcess());
  for (let attempt = 1; ; attempt += 1) {
    try {
      writeFileSync(file, note, { flag: "wx", mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      const owner = readOwner(file);
      if (owner !== undefined) {
        throw new DirectoryInUseError(`the directory is in use by process ${owner.pid}`, {
          cause: error,
        });
      }
      if (attempt === 3) throw error;
      rmSync(file, { force: true });
    }
  }
}

/** The living process that claims the directory. */
function readOwner(file: string): ProcessIdentity | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8")) as ProcessIdentity;
    return isAlive(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

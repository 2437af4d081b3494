import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { startTimeOf } from "./processes.ts";

/** A process id and its start time: a later process with the same id is not mistaken for it. */
export type ProcessIdentity = { pid: number; startTime: string | undefined };

export const thisProcess = (): ProcessIdentity => ({
  pid: process.pid,
  startTime: startTimeOf(process.pid),
});
export const isAlive = ({ pid, startTime }: ProcessIdentity): boolean =>
  startTime !== undefined && startTimeOf(pid) === startTime;

/** Another running process has locked the directory. */
export class DirectoryInUseError extends Error {}

/**
 * Locks a directory for this process until the returned function is called or the process exits. The file names the
 * process by id and start time, so that the file of a killed process does not lock anything.
 */
export function lockDirectory(file: string): () => void {
  const identity = JSON.stringify(thisProcess());
  for (let attempt = 1; ; attempt += 1) {
    try {
      writeFileSync(file, identity, { flag: "wx", mode: 0o600 });
      return releaseOnce(file);
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

/** Called again it must not remove the file of a later lock. */
function releaseOnce(file: string): () => void {
  let isReleased = false;
  return () => {
    if (!isReleased) rmSync(file, { force: true });
    isReleased = true;
  };
}

/** The running process that has locked the directory. */
function readOwner(file: string): ProcessIdentity | undefined {
  try {
    const owner = JSON.parse(readFileSync(file, "utf8")) as ProcessIdentity;
    return isAlive(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

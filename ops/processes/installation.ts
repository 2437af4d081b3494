import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Environment } from "../config/environment.ts";
import { isAlive, type ProcessIdentity, thisProcess } from "../postgres/live-processes.ts";

type Variables = Record<string, string | undefined>;
type Installation = {
  owner: ProcessIdentity;
  environment: Record<string, string>;
  /** Whether it cannot be used yet. */
  isStarting?: boolean;
};

const pathIn = (dataDir: string): string => join(dataDir, "running.json");

/**
 * Writes the addresses of the embedded database and the local chains to `DATA_DIR`, where other commands on this machine
 * read them while this process runs. Returns a function that removes the file.
 */
export function writeInstallation(
  dataDir: string,
  environment: Record<string, string>,
): () => void {
  write(dataDir, { owner: thisProcess(), environment });
  return () => rmSync(pathIn(dataDir), { force: true });
}

/** Tells other commands that the service has begun to start; `writeInstallation` replaces it. */
export function writeStarting(dataDir: string): void {
  write(dataDir, { owner: thisProcess(), environment: {}, isStarting: true });
}

function write(dataDir: string, installation: Installation): void {
  writeFileSync(pathIn(dataDir), JSON.stringify(installation), { mode: 0o600 });
}

/** Whether a service has begun to start in `DATA_DIR` and has no addresses yet. */
export const isServiceStarting = (dataDir: string): boolean =>
  readInstallation(dataDir)?.isStarting === true;

/** The environment, completed with the addresses of the installation that runs in its `DATA_DIR`. */
export function mergeInstallation(environment: Variables): Variables {
  const running = readInstallation(
    Environment.shape.DATA_DIR.parse(environment.DATA_DIR || undefined),
  );
  const namesOwnChains = Object.keys(environment).some(
    (name) => /^RPC_URL_\d+$/.test(name) && environment[name],
  );
  const namesOwnDatabase = Boolean(environment.DATABASE_URL);
  const merged: Variables = { ...environment };
  for (const [name, value] of Object.entries(running?.environment ?? {})) {
    const isDatabase = name.startsWith("DATABASE_URL");
    if (isDatabase ? namesOwnDatabase : namesOwnChains) continue;
    merged[name] = environment[name] || value;
  }
  return merged;
}

/** Of the service that runs there. */
function readInstallation(dataDir: string): Installation | undefined {
  try {
    const installation = JSON.parse(readFileSync(pathIn(dataDir), "utf8")) as Installation;
    return isAlive(installation.owner) ? installation : undefined;
  } catch {
    return undefined;
  }
}

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Environment } from "../config/environment.ts";
import { isAlive, type ProcessIdentity, thisProcess } from "../postgres/directory-lock.ts";

type Variables = Record<string, string | undefined>;
type Installation = { owner: ProcessIdentity; environment: Record<string, string> };

const pathIn = (dataDir: string): string => join(dataDir, "running.json");

/**
 * Writes the addresses of the embedded database and the local chains to `DATA_DIR`, where other commands on this machine
 * read them while this process runs. Returns a function that removes the file.
 */
export function writeInstallation(
  dataDir: string,
  environment: Record<string, string>,
): () => void {
  const installation: Installation = { owner: thisProcess(), environment };
  writeFileSync(pathIn(dataDir), JSON.stringify(installation), { mode: 0o600 });
  return () => rmSync(pathIn(dataDir), { force: true });
}

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
  for (const [name, value] of Object.entries(running)) {
    const isDatabase = name.startsWith("DATABASE_URL");
    if (isDatabase ? namesOwnDatabase : namesOwnChains) continue;
    merged[name] = environment[name] || value;
  }
  return merged;
}

function readInstallation(dataDir: string): Record<string, string> {
  try {
    const { owner, environment } = JSON.parse(
      readFileSync(pathIn(dataDir), "utf8"),
    ) as Installation;
    return isAlive(owner) ? environment : {};
  } catch {
    return {};
  }
}

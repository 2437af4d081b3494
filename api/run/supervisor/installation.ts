import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Environment } from "../config/environment.ts";
import { isAlive, type ProcessIdentity, thisProcess } from "../postgres/directory-lock.ts";

type Variables = Record<string, string | undefined>;
type Installation = { owner: ProcessIdentity; environment: Record<string, string> };

const fileIn = (dataDir: string): string => join(dataDir, "running.json");

/**
 * Tells other commands on this machine where the embedded database and the local chains are while
 * this process runs them. Returns how to take it back.
 */
export function writeInstallation(
  dataDir: string,
  environment: Record<string, string>,
): () => void {
  const installation: Installation = { owner: thisProcess(), environment };
  writeFileSync(fileIn(dataDir), JSON.stringify(installation), { mode: 0o600 });
  return () => rmSync(fileIn(dataDir), { force: true });
}

/** The environment, and what it does not name itself from the installation that runs in its `DATA_DIR`. */
export function mergeInstallation(environment: Variables): Variables {
  const running = readInstallation(
    Environment.shape.DATA_DIR.parse(environment.DATA_DIR || undefined),
  );
  const ownChains = Object.keys(environment).some(
    (name) => /^RPC_URL_\d+$/.test(name) && environment[name],
  );
  const merged: Variables = { ...environment };
  for (const [name, value] of Object.entries(running)) {
    if (ownChains && name !== "DATABASE_URL") continue;
    merged[name] = environment[name] || value;
  }
  return merged;
}

function readInstallation(dataDir: string): Record<string, string> {
  try {
    const { owner, environment } = JSON.parse(
      readFileSync(fileIn(dataDir), "utf8"),
    ) as Installation;
    return isAlive(owner) ? environment : {};
  } catch {
    return {};
  }
}

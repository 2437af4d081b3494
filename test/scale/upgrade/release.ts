import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "#ops/free-port.ts";
import type { OrphanGuard } from "#ops/processes/child.ts";

export const root = join(import.meta.dirname, "../../..");
const launcher = "ops/launch.mjs";

/**
 * Copies the program as a release that follows: every projection has a higher version, and a column of their tables
 * another name, which neither release can read of the other.
 */
export async function copyAsNextRelease(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "next-release-"));
  const needed = [
    "abis",
    "api",
    "chains",
    "devnet",
    "docs",
    "jobs",
    "ops",
    "projections",
    "src",
    "package.json",
  ];
  for (const one of [...needed, "package-lock.json", "ponder.config.ts", "ponder.schema.ts"])
    await cp(join(root, one), join(directory, one), { recursive: true, preserveTimestamps: true });
  await linkPackages(join(root, "node_modules"), join(directory, "node_modules"));
  for (const folder of ["api", "jobs", "ops", "projections"]) {
    for (const entry of await readdir(join(directory, folder), {
      recursive: true,
      withFileTypes: true,
    })) {
      if (entry.name.endsWith(".ts")) await change(join(entry.parentPath, entry.name));
    }
  }
  return directory;
}

/** The same packages without the cache. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  for (const one of await readdir(from))
    if (one !== ".cache") await symlink(join(from, one), join(to, one));
}

async function change(path: string): Promise<void> {
  const before = await readFile(path, "utf8");
  const renamed = before.replaceAll(/\bunit_price_wei\b/g, "unit_price_of_next");
  const raised = path.endsWith("projections/log/versions.ts") ? raise(renamed) : renamed;
  if (raised !== before) await writeFile(path, raised);
}

/** Every version, and with them those that the readers were looked at for. */
const raise = (versions: string): string =>
  versions.replaceAll(
    /\b(?!first\b)(\w+): (\d+)\b/g,
    (_, name: string, version: string) => `${name}: ${Number(version) + 1}`,
  );

const roles = ["indexer", "projector", "jobs", "api"] as const;

/** The processes of one release. */
export type Release = {
  readonly baseUrl: string;
  /** What its processes wrote that is not a plain message. */
  readonly output: string[];
  stop(): Promise<void>;
};

type ReleaseOptions = { settings: Record<string, string>; orphanGuard: OrphanGuard };

/** Starts a process for each role, from the sources in a directory. */
export async function startRelease(
  directory: string,
  { settings, orphanGuard }: ReleaseOptions,
): Promise<Release> {
  const port = await findFreePort();
  const output: string[] = [];
  let isStopping = false;
  const running = new Map<string, ChildProcess>();
  /** Started again when it dies, as by its supervisor: on a busy machine a lease may be lost. */
  const start = (role: string): void => {
    const script = join(directory, launcher);
    const child = spawn(process.execPath, [script, "service", "--only", role], {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings, PORT: `${port}` },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const pid = child.pid ?? 0;
    orphanGuard.add(pid, "SIGTERM");
    const keep = (data: Buffer) => output.push(`${role}: ${data.toString().trimEnd()}`);
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.once("exit", () => {
      orphanGuard.remove(pid);
      running.delete(role);
      if (!isStopping) start(role);
    });
    running.set(role, child);
  };
  roles.forEach(start);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    output,
    async stop() {
      isStopping = true;
      const ending = [...running.values()].map((one) => once(one, "exit"));
      for (const one of running.values()) one.kill("SIGTERM");
      await Promise.all(ending);
    },
  };
}

import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";
import type { TestProject } from "vitest/node";
import { startTimeOf } from "../../../api/run/postgres/processes.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Paths of the programs that tests start, each bundled into one file. */
    programs: { op: string; service: string };
  }
}

const root = resolve(import.meta.dirname, "../../..");
/** Inside the project, where the programs find their packages. */
const cache = join(root, "node_modules/.cache");
const prefix = "test-programs-";
let directory: string | undefined;

/** Bundled once per run, a program starts in a tenth of the CPU time that `tsx` needs for 300 modules. */
export async function setup(project: TestProject): Promise<void> {
  await removeLeftovers();
  directory = await mkdtemp(join(cache, `${prefix}${process.pid}-`));
  const building = build({
    configFile: false,
    logLevel: "error",
    root,
    plugins: [keepSourcePaths],
    ssr: {
      noExternal: true,
      external: ["@node-rs/argon2", "pg-native", "ponder", "tiny-secp256k1"],
    },
    build: {
      ssr: true,
      target: "node20",
      outDir: directory,
      copyPublicDir: false,
      rolldownOptions: { input: { op: "api/run/operator/main.ts", service: "api/main.ts" } },
    },
  });
  // A module that cannot be bundled fails the tests that start programs, and no others.
  await building.catch((error) => process.stderr.write(`programs not bundled: ${error}\n`));
  project.provide("programs", {
    op: join(directory, "op.js"),
    service: join(directory, "service.js"),
  });
}

export async function teardown(): Promise<void> {
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
}

/** Modules find files of the project by their own path, which a bundle would change. */
const keepSourcePaths: Plugin = {
  name: "keep-source-paths",
  enforce: "pre",
  transform(code, id) {
    if (!id.endsWith(".ts") || !code.includes("import.meta.")) return undefined;
    return code
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
  },
};

/** Bundles of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  await mkdir(cache, { recursive: true });
  for (const name of await readdir(cache)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : 0;
    if (pid === 0 || startTimeOf(pid) !== undefined) continue;
    await rm(join(cache, name), { recursive: true, force: true });
  }
}

import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { compilerOptions } from "./compiler-options.ts";
import { compilePonder } from "./ponder/compile.ts";

/** The programs, by name: `service` is every process of `npm start`, `devnet` the local chains. */
const programs = {
  service: "api/main.ts",
  op: "api/run/operator/main.ts",
  devnet: "devnet/main.ts",
};

/** Packages that find files beside their own, or that are not always installed. */
const external = ["@duckdb/node-api", "@node-rs/argon2", "pg-native", "ponder", "tiny-secp256k1"];

/** The newest are kept, to be found again. */
const keptBuilds = 4;
/** A running process marks its build each minute: it still loads parts of it when it needs them. */
const unusedMs = 10 * 60_000;
/** What is not finished by then was left by a process that was killed. */
const unfinishedMs = 60 * 60_000;

/**
 * Builds the programs into a directory that does not exist yet. It appears whole, also when several processes build it
 * at the same time. Throws when a module does not compile or the directory cannot be written.
 */
async function buildPrograms(directory: string): Promise<void> {
  await mkdir(dirname(directory), { recursive: true });
  const unfinished = await mkdtemp(`${directory}-`);
  try {
    const compiled = await Promise.allSettled([
      compile(unfinished),
      compilePonder(unfinished, directory),
    ]);
    for (const one of compiled) if (one.status === "rejected") throw one.reason;
    await chmod(unfinished, 0o755);
    await rename(unfinished, directory).catch(async (error) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function compile(outdir: string): Promise<void> {
  await build({
    ...compilerOptions,
    entryPoints: Object.entries(programs).map(([out, path]) => ({ in: path, out })),
    outdir,
    external,
    plugins: [keepSourcePaths],
    sourcemap: "linked",
    sourcesContent: false,
  });
}

/** Modules find files of the project by their own path, which a bundle would change. */
const keepSourcePaths: Plugin = {
  name: "keep-source-paths",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, "utf8");
      const contents = code
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: "ts" };
    });
  },
};

async function removeOldBuilds(parent: string): Promise<void> {
  const found = await Promise.all(
    (await readdir(parent)).map(async (name) => {
      const path = join(parent, name);
      return { path, isUnfinished: name.includes("-"), usedAt: await usedAtOf(path) };
    }),
  );
  const finished = found.filter(({ isUnfinished }) => !isUnfinished);
  const newest = finished.sort((a, b) => b.usedAt - a.usedAt).slice(0, keptBuilds);
  for (const one of found) {
    const keptMs = one.isUnfinished ? unfinishedMs : unusedMs;
    // Read again: a process that starts now may have marked it meanwhile.
    if (newest.includes(one) || (await usedAtOf(one.path)) > Date.now() - keptMs) continue;
    await rm(one.path, { recursive: true, force: true });
  }
}

/** Now for one that is gone: another process has renamed or removed it. */
async function usedAtOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return Date.now();
  }
}

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error("usage: build.ts DIRECTORY");
try {
  await buildPrograms(directory);
  await removeOldBuilds(dirname(directory));
} catch (error) {
  process.stderr.write(
    `the programs cannot be built: ${error instanceof Error ? error.message : error}\n`,
  );
  process.exitCode = 1;
}

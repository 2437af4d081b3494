import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const root = resolve(import.meta.dirname, "../../..");

/** The programs, by name: `service` is every process of `npm start`, `devnet` the local chains. */
const programs = {
  service: "api/main.ts",
  op: "api/run/operator/main.ts",
  devnet: "devnet/main.ts",
};

/** Packages that find files beside their own, or that are not always installed. */
const external = ["@duckdb/node-api", "@node-rs/argon2", "pg-native", "ponder", "tiny-secp256k1"];

/** Builds in use or just left, so that a process of an older one still finds what it has not loaded yet. */
const keptBuilds = 4;

/**
 * Builds the programs into a directory that does not exist yet. It appears whole, also when several processes build it
 * at the same time. Throws when a module does not compile or the directory cannot be written.
 */
async function buildPrograms(directory: string): Promise<void> {
  await mkdir(dirname(directory), { recursive: true });
  const unfinished = await mkdtemp(`${directory}-`);
  try {
    await compile(unfinished);
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
    absWorkingDir: root,
    entryPoints: Object.entries(programs).map(([out, path]) => ({ in: path, out })),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external,
    plugins: [keepSourcePaths],
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "silent",
    // CommonJS packages call `require` for Node's own modules.
    banner: {
      js: 'import { createRequire as createRequireOfBuild } from "node:module"; const require = createRequireOfBuild(import.meta.url);',
    },
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
      return { path, usedAt: (await stat(path)).mtimeMs };
    }),
  );
  const old = found.sort((a, b) => b.usedAt - a.usedAt).slice(keptBuilds);
  for (const { path } of old) await rm(path, { recursive: true, force: true });
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

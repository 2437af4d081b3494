import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { compilerOptions } from "../compiler-options.ts";
import { ponderDirectory } from "../installed-paths.ts";

/**
 * Packages that find files beside their own, that a start seldom needs, or whose classes are changed before Ponder runs
 * (`ponder-live-query.mjs`).
 */
const external =
  /^(@electric-sql\/pglite|pg|pg-native|pg-query-emscripten|pino|typescript|vite|vite-node)(\/|$)/;
const packageName = "ponder-package";
/** As the compiler names its modules, where the package is a link. */
const modules = realpathSync(join(ponderDirectory, "dist/esm"));

/** Imports what replaces a function of Ponder's. */
const importing = (name: string, file: string) =>
  `import { ${name} } from ${JSON.stringify(join(import.meta.dirname, file))};`;

type Patch = { pattern: RegExp; replacement: (outdir: string) => string };

/** By module of Ponder's. Without one of these places there is no build: Ponder was upgraded. */
const patches: Record<string, readonly Patch[]> = {
  "build/index.js": [
    // The project's modules get the same `ponder` as the program, not a second one of a thousand files.
    {
      pattern: /publicDir: false,/,
      replacement: (outdir) =>
        `publicDir: false, resolve: { alias: { ponder: "${outdir}/${packageName}.mjs" } },`,
    },
    // It would compile the program as if it were the project's.
    {
      pattern: /server: { hmr: false },/,
      replacement: () => "server: { hmr: false, preTransformRequests: false },",
    },
  ],
  "runtime/historical.js": [
    // It takes as many blocks at a time as it stores in so many milliseconds, all of them in memory.
    {
      pattern: /target: params\.common\.options\.command === "dev" \? 2000 : 10000,/,
      replacement: () => "target: 5000,",
    },
  ],
  "sync-realtime/bloom.js": [
    {
      pattern: /export const isInBloom = .*?\n};/s,
      replacement: () => `export { isInBloom }; ${importing("isInBloom", "bloom.ts")}`,
    },
  ],
  "runtime/filter.js": [
    {
      pattern: /const isValueMatched = .*?\n};/s,
      replacement: () => importing("isValueMatched", "value-matches.ts"),
    },
    // Nearly all filters are for another event: that is compared before numbers are parsed.
    {
      pattern: /export const isLogFilterMatched = \(\{ filter, log, \}\) => \{/,
      replacement: () =>
        "$&\nif (isValueMatched(filter.topic0, log.topics[0]) === false) return false;",
    },
  ],
  "sync-store/index.js": [
    {
      pattern:
        /db\s+\.insert\((PONDER_SYNC\.(?:blocks|logs|transactions))\)\s+\.values\((\w+\s+\.slice\(i, i \+ batchSize\).*?)\)\s+\.onConflictDoNothing\(\{\s+target: (.*?),\s+\}\)/gs,
      replacement: () => "insertRows(db, $1, $2, $3)",
    },
    { pattern: /^/, replacement: () => importing("insertRows", "insert-rows.ts") },
  ],
};

/**
 * Ponder's command line as `ponder.mjs` in a directory that is `directory` once it is finished: one file in place of a
 * thousand, which takes a third of the time to load. Throws when a module does not compile.
 */
export async function compilePonder(unfinished: string, directory: string): Promise<void> {
  const { patchModules, expectAllPatched } = openPatches(directory);
  await build({
    ...compilerOptions,
    entryPoints: [
      { in: join(modules, "bin/ponder.js"), out: "ponder" },
      { in: join(modules, "index.js"), out: packageName },
    ],
    outdir: unfinished,
    plugins: [keepExternal, patchModules],
    // Names stay, for stack traces.
    minifyWhitespace: true,
    chunkNames: "ponder/[name]-[hash]",
  });
  expectAllPatched();
}

/** As Ponder finds them: the project has other releases of some, which its dependencies would load as well. */
const keepExternal: Plugin = {
  name: "keep-external",
  setup({ onResolve, resolve }) {
    onResolve({ filter: external }, async ({ path, kind, pluginData }) => {
      if (pluginData === keepExternal) return undefined;
      const found = await resolve(path, { kind, resolveDir: modules, pluginData: keepExternal });
      // Optional ones are not installed.
      return { path: found.errors.length > 0 ? path : found.path, external: true };
    });
  },
};

function openPatches(outdir: string) {
  const missing = new Set(Object.keys(patches));
  const patchModules: Plugin = {
    name: "patch-modules",
    setup({ onLoad }) {
      onLoad({ filter: /\/ponder\/dist\/esm\/.*\.js$/ }, async ({ path }) => {
        const name = relative(modules, path);
        let code = await readFile(path, "utf8");
        for (const { pattern, replacement } of patches[name] ?? []) {
          const patched = code.replace(pattern, replacement(outdir));
          if (patched === code)
            throw new Error(`cannot patch Ponder: ${path} does not match ${pattern}`);
          code = patched;
        }
        missing.delete(name);
        // It finds its own files by the module's path.
        const url = JSON.stringify(pathToFileURL(path).href);
        return { contents: code.replaceAll("import.meta.url", url), loader: "js" };
      });
    },
  };
  const expectAllPatched = () => {
    if (missing.size > 0)
      throw new Error(`cannot patch Ponder: it has no module ${[...missing].join(", ")}`);
  };
  return { patchModules, expectAllPatched };
}

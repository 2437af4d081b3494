import type { BuildOptions } from "esbuild";
import { projectRoot } from "./installed-paths.ts";

/** Of all programs: modules for Node that share what several of them contain. */
export const compilerOptions = {
  absWorkingDir: projectRoot,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "silent",
  // CommonJS packages call `require` for Node's own modules.
  banner: {
    js: 'import { createRequire as createRequireOfBuild } from "node:module"; const require = createRequireOfBuild(import.meta.url);',
  },
} satisfies BuildOptions;

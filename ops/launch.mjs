import module from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Runs a program of the project: `node ops/launch.mjs service|op|devnet ...`. JavaScript, so that a Node that
// is too old for TypeScript says so.

const programs = {
  service: "ops/processes/main.ts",
  op: "ops/cli/main.ts",
  devnet: "devnet/main.ts",
};

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `Node ${process.versions.node} is too old: 22.18 or later is needed. npm's scripts use the Node 24 that "npm ci" installs on 64-bit x86 Linux\n`,
  );
  process.exit(1);
}

const root = fileURLToPath(new URL("..", import.meta.url));
// Modules are compiled once and not by each process, Ponder's neither; where the directory cannot be written, by each.
const { env } = process;
env.NODE_COMPILE_CACHE ??= join(root, "node_modules/.cache/node");
module.enableCompileCache?.(env.NODE_COMPILE_CACHE);

const [program = ""] = process.argv.splice(2, 1);
await import(pathToFileURL(join(root, programs[program] ?? program)).href);

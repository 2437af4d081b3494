// Runs a program of the project: `node api/run/programs/launch.mjs service|op|devnet|ponder ...`; `build` only builds
// them and prints where. JavaScript, because it runs before anything is compiled, and on a Node that is too old.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const sources = ["abis", "api", "devnet", "projections", "src"];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Node ${process.versions.node} is too old: 20.19 or later is needed\n`);
  process.exit(1);
}

const directory = join(root, "node_modules/.cache/programs", fingerprint());
if (existsSync(directory)) markUsed();
else build();
// A build that is in use is not removed by those of later releases.
setInterval(markUsed, 60_000).unref();

const [program = ""] = process.argv.splice(2, 1);
if (program === "build") process.stdout.write(`${directory}\n`);
else {
  process.setSourceMapsEnabled(true);
  await import(pathToFileURL(join(directory, `${program}.mjs`)).href);
}

/** Changes with every source file and every installed package. */
function fingerprint() {
  const hash = createHash("sha256").update(process.versions.node);
  const add = (path) => {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${path}:${size}:${mtimeMs}\n`);
  };
  add(join(root, "package-lock.json"));
  for (const folder of sources) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && entry.name.endsWith(".ts")) add(join(entry.parentPath, entry.name));
    }
  }
  return hash.digest("hex").slice(0, 20);
}

/** Builds that were not used for long are removed. Whoever may not write here removes none either. */
function markUsed() {
  try {
    utimesSync(directory, new Date(), new Date());
  } catch {
    // Another user built it, or the disk is read-only, as in a container.
  }
}

/** In a process of its own, so that the compiler's memory is given back. */
function build() {
  const script = join(root, "api/run/programs/build.ts");
  const { status } = spawnSync(process.execPath, ["--import", "tsx", script, directory], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) process.exit(1);
}

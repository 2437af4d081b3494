import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Refuses an exported name that two files of the service declare: "go to symbol" then leads to one place. */

const root = join(import.meta.dirname, "../..");
const rooms = ["abis", "api", "chains", "jobs", "ops", "projections", "src"];
/** What every role's module exports, for the one that starts them by name. */
const interfaces: ReadonlySet<string> = new Set(["runRole"]);
const declaration =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|type|interface) (\w+)/gm;

const paths = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...rooms], {
  cwd: root,
})
  .toString()
  .split("\n")
  .filter((path) => path.endsWith(".ts") && !/\.(test|fixture)\.ts$/.test(path));

const homes = new Map<string, Set<string>>();
for (const path of paths) {
  for (const [, name = ""] of readFileSync(join(root, path), "utf8").matchAll(declaration))
    homes.set(name, (homes.get(name) ?? new Set()).add(path));
}
const doubled = [...homes].filter(([name, files]) => files.size > 1 && !interfaces.has(name));

for (const [name, files] of doubled) process.stdout.write(`${name}: ${[...files].join(", ")}\n`);
process.stdout.write(`${doubled.length} of ${homes.size} exported names have several homes\n`);
process.exitCode = doubled.length === 0 ? 0 : 1;

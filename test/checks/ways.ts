import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Counts the ways through the service and its mechanisms, beside their goals. Fails where a page of a way names a file that is not
 * there, or another number of files than it lists.
 */

const root = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
/** Besides tests, and what `sdk:generate` writes. */
const isOwn = (path: string) =>
  /\.(ts|mjs|sql|css)$/.test(path) &&
  !/\.(test|fixture)\.ts$|^sdk\/src\/document\.ts$/.test(path) &&
  existsSync(join(root, path));

const rooms = ["abis", "api", "chains", "devnet", "jobs", "ops", "projections", "sdk", "src"];
const own = execFileSync("git", ["ls-files", ...rooms, "ponder.*"], { cwd: root })
  .toString()
  .split("\n")
  .filter(isOwn);
const service = own.filter((path) => /^(api|jobs|ops|projections)\/.*\.ts$/.test(path));

let problems = 0;
function refuse(problem: string): void {
  problems += 1;
  process.stdout.write(`${problem}\n`);
}

/** Files that a page of a way lists. */
function filesOfWay(page: string): number {
  const text = read(page);
  const files = new Set([...text.matchAll(/^\| `([^`]+)`/gm)].map(([, path = ""]) => path));
  const lost = [...files].filter((path) => !existsSync(join(root, path)));
  for (const path of lost) refuse(`${page}: ${path} is not there`);
  const told = Number(/: (\d+) files/.exec(text)?.[1]);
  if (told !== files.size) refuse(`${page} tells of ${told} files and lists ${files.size}`);
  return files.size;
}

/** How often a pattern stands in files of the service. */
const count = (pattern: RegExp, paths: readonly string[] = service): number =>
  paths.reduce((sum, path) => sum + [...read(path).matchAll(pattern)].length, 0);
const outside = (place: RegExp) => service.filter((path) => !place.test(path));
const within = (place: RegExp) => service.filter((path) => place.test(path));

const limiter =
  /^(?:export )?function (?:create|open)\w*(?:Limiter|Breaker|Budget|Cooldowns|Throttle|Counts|Queue|Semaphore|Turns|Windows)\b/gm;
const rows: [what: string, now: number, goal: string][] = [
  ["files on the way of a sale (docs/a-sale.md)", filesOfWay("docs/a-sale.md"), "≤ 45"],
  ["files on the way of an order (docs/an-order.md)", filesOfWay("docs/an-order.md"), "≤ 45"],
  ["files on the way of a rebuild (docs/a-rebuild.md)", filesOfWay("docs/a-rebuild.md"), "≤ 12"],
  ["own lines besides tests and what is generated", count(/\n/g, own), "≤ 88,000"],
  [
    "loops until a signal, besides the runner's",
    count(/while \(!\S*aborted/g, outside(/runner/)),
    "0",
  ],
  ["timers of their own (setInterval)", count(/\bsetInterval\(/g), ""],
  [
    "caches of answers (functions of api/http/reads)",
    count(/^export function \w*[cC]ache[<(]/gm, within(/^api\/http\/reads\//)),
    "2",
  ],
  ["memories of the least recently used (LRUCache)", count(/new LRUCache\b/g), ""],
  ["limits of the kit (jobs/runner/limits.ts)", count(limiter, within(/runner\/limits/)), ""],
  ["limits besides the kit", count(limiter, outside(/runner\/limits/)), "0"],
];

const width = Math.max(...rows.map(([what]) => what.length));
for (const [what, now, goal] of [["", "now", "goal"], ...rows])
  process.stdout.write(`${String(what).padEnd(width)}  ${String(now).padStart(7)}  ${goal}\n`);
process.exitCode = problems === 0 ? 0 : 1;

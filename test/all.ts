import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What `npm test` runs, in this order, each to its end; the last line counts all of it. */
const checks = {
  "format and lint": ["biome", "ci", "."],
  types: ["tsc", "--noEmit"],
  layering: [
    "depcruise",
    "--config",
    ".dependency-cruiser.cjs",
    ...["abis", "api", "devnet", "projections", "src", "test"],
    ...["ponder.config.ts", "ponder.schema.ts"],
  ],
  "dead code": ["knip"],
} as const;

const suites = ["unit", "integration", "e2e"] as const;

type Tally = { passed: number; failed: number };

const root = join(import.meta.dirname, "..");
const scratch = await mkdtemp(join(tmpdir(), "tests-"));
const total: Tally = { passed: 0, failed: 0 };
const failures: string[] = [];

for (const [name, command] of Object.entries(checks)) {
  add(name, (await run(command)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
}
for (const suite of suites) add(suite, await runSuite(suite));
await rm(scratch, { recursive: true, force: true });

if (failures.length > 0) print(`\nfailed: ${failures.join(", ")}`);
print(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

function add(name: string, { passed, failed }: Tally): void {
  total.passed += passed;
  total.failed += failed;
  if (failed > 0) failures.push(name);
}

/** A suite that ends badly without a failed test (a file that does not load, an unhandled error) counts as one failure. */
async function runSuite(suite: string): Promise<Tally> {
  const report = join(scratch, `${suite}.json`);
  const code = await run([
    "vitest",
    "run",
    ...["--project", suite, "--reporter", "default", "--reporter", "json"],
    `--outputFile.json=${report}`,
  ]);
  const counts = await readFile(report, "utf8").then(JSON.parse, () => ({}));
  const failed = Number(counts.numFailedTests ?? 0);
  return {
    passed: Number(counts.numPassedTests ?? 0),
    failed: code !== 0 && failed === 0 ? 1 : failed,
  };
}

async function run(command: readonly string[]): Promise<number> {
  const [program = "", ...rest] = command;
  print(`\n— ${command.join(" ")}`);
  const started = performance.now();
  const child = spawn(join(root, "node_modules/.bin", program), rest, {
    cwd: root,
    stdio: "inherit",
  });
  const code = await new Promise<number>((resolve) => {
    child.on("error", () => resolve(1));
    child.on("exit", (exitCode) => resolve(exitCode ?? 1));
  });
  print(
    `— ${program}: ${code === 0 ? "ok" : `exit ${code}`}, ${Math.round((performance.now() - started) / 1000)} s`,
  );
  return code;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

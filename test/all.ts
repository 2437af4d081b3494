import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Tally } from "./support/processes/tally-reporter.ts";

const usage = "usage: node test/all.ts tests|scale...\n";

/** Of the static checks, from run to run. */
const cache = "node_modules/.cache/checks";

/** The native compiler takes a fifth of the time. Named by its path: `typescript`, whose API tools use, has a `tsc` too. */
const compiler = "../typescript-7/bin/tsc";

/** Static checks, one after another beside the suites. */
const checks = {
  "format and lint": ["biome", "ci", "."],
  types: [compiler, "--noEmit", "--incremental", "--tsBuildInfoFile", `${cache}/tsc.json`],
  layering: [
    "depcruise",
    "--config",
    ".dependency-cruiser.cjs",
    ...["abis", "api", "chains", "devnet", "jobs", "ops", "projections", "sdk", "src", "test"],
    ...["ponder.config.ts", "ponder.schema.ts"],
  ],
  "dead code": ["knip"],
  vocabulary: ["node", "test/checks/vocabulary.ts"],
  "exported names": ["node", "test/checks/exported-names.ts"],
  "the API's document": ["node", "sdk/document/main.ts", "check"],
} as const;

const suites = ["unit", "integration"] as const;
/** One after the other. */
const scaleSuites = ["scale", "background"] as const;

const root = join(import.meta.dirname, "..");
const total: Tally = { passed: 0, failed: 0, failures: [] };
const failedParts: string[] = [];

const parts = process.argv.slice(2);
if (parts.length === 0 || !parts.every((part) => part === "tests" || part === "scale")) {
  process.stderr.write(usage);
  process.exit(2);
}
const scratch = await mkdtemp(join(tmpdir(), "tests-"));
if (parts.includes("tests")) await Promise.all([runSuites(suites), runChecks()]);
if (parts.includes("scale")) {
  for (const suite of scaleSuites) await runSuites([suite]);
}
await rm(scratch, { recursive: true, force: true });

if (failedParts.length > 0) print(`\nfailed: ${failedParts.join(", ")}`);
for (const failure of total.failures) print(`  ${failure}`);
print(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

function add(part: string, { passed, failed, failures }: Tally): void {
  total.passed += passed;
  total.failed += failed;
  total.failures.push(...failures);
  if (failed > 0) failedParts.push(part);
}

/** Their output is shown when each ends, so that it stays in one piece. */
async function runChecks(): Promise<void> {
  for (const [name, command] of Object.entries(checks)) {
    const started = performance.now();
    const child = start(command, "pipe");
    const output = Promise.all([child.stdout, child.stderr].map((one) => (one ? text(one) : "")));
    const code = await exitCodeOf(child);
    print(`${(await output).join("")}${summary(name, code, started)}`);
    const [passed, failed] = code === 0 ? [1, 0] : [0, 1];
    add(name, { passed, failed, failures: [] });
  }
}

/** A run that ends badly without anything that failed, or without a tally, counts as one failure. */
async function runSuites(names: readonly string[]): Promise<void> {
  const name = names.join(", ");
  const file = join(scratch, `${names.join("-")}.json`);
  const started = performance.now();
  const projects = names.flatMap((one) => ["--project", one]);
  const child = start(["vitest", "run", ...projects], "inherit", { TALLY_FILE: file });
  const code = await exitCodeOf(child);
  print(summary(name, code, started));
  const none: Tally = { passed: 0, failed: 0, failures: [] };
  const tally: Tally = await readFile(file, "utf8").then(JSON.parse, () => none);
  add(name, { ...tally, failed: code === 0 ? tally.failed : Math.max(1, tally.failed) });
}

function start(
  command: readonly string[],
  output: "inherit" | "pipe",
  variables: Record<string, string> = {},
): ChildProcess {
  const [program = "", ...args] = command;
  print(`— ${command.join(" ")}`);
  return spawn(join(root, "node_modules/.bin", program), args, {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: ["ignore", output, output],
  });
}

function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(1));
    child.once("close", (code) => resolve(code ?? 1));
  });
}

function summary(name: string, code: number, started: number): string {
  const seconds = Math.round((performance.now() - started) / 1000);
  return `— ${name}: ${code === 0 ? "ok" : `exit ${code}`}, ${seconds} s`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";

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
    ...["abis", "api", "devnet", "projections", "sdk", "src", "test"],
    ...["ponder.config.ts", "ponder.schema.ts"],
  ],
  "dead code": ["knip"],
  vocabulary: ["node", "test/checks/vocabulary.ts"],
  "the API's document": ["node", "sdk/document/main.ts", "check"],
} as const;

const suites = ["unit", "integration"] as const;
/** One after the other. */
const scaleSuites = ["scale", "background"] as const;

type Tally = { passed: number; failed: number };

/** The parts of Vitest's JSON report that are read here. */
type Report = {
  numPassedTests?: number;
  numFailedTests?: number;
  testResults?: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

const root = join(import.meta.dirname, "..");
const total: Tally = { passed: 0, failed: 0 };
const failures: string[] = [];
const failedTests: string[] = [];

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

if (failures.length > 0) print(`\nfailed: ${failures.join(", ")}`);
for (const failedTest of failedTests) print(`  ${failedTest}`);
print(`\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

function add(name: string, { passed, failed }: Tally): void {
  total.passed += passed;
  total.failed += failed;
  if (failed > 0) failures.push(name);
}

/** Their output is shown when each ends, so that it stays in one piece. */
async function runChecks(): Promise<void> {
  for (const [name, command] of Object.entries(checks)) {
    const started = performance.now();
    const child = start(command, "pipe");
    const output = Promise.all([child.stdout, child.stderr].map((one) => (one ? text(one) : "")));
    const code = await exitCodeOf(child);
    print(`${(await output).join("")}${summary(name, code, started)}`);
    add(name, code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  }
}

/** A run that ends badly without a failed test (a file that does not load, an unhandled error) counts as one failure. */
async function runSuites(names: readonly string[]): Promise<void> {
  const name = names.join(", ");
  const report = join(scratch, `${names.join("-")}.json`);
  const started = performance.now();
  const code = await exitCodeOf(
    start(
      [
        ...["vitest", "run", "--reporter", "default", "--reporter", "json"],
        ...names.flatMap((one) => ["--project", one]),
        `--outputFile.json=${report}`,
      ],
      "inherit",
    ),
  );
  print(summary(name, code, started));
  const counts: Report = await readFile(report, "utf8").then(JSON.parse, () => ({}));
  failedTests.push(...failedTestsOf(counts));
  const failed = Number(counts.numFailedTests ?? 0);
  add(name, {
    passed: Number(counts.numPassedTests ?? 0),
    failed: code !== 0 && failed === 0 ? 1 : failed,
  });
}

/** Each with its file and its error, so that the end of a long output says what failed. */
function failedTestsOf({ testResults = [] }: Report): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((one) => one.status === "failed");
    if (failed.length === 0) return status === "failed" ? [`${file}: ${firstLine(message)}`] : [];
    return failed.map(
      ({ fullName, failureMessages }) => `${file}: ${fullName}: ${firstLine(failureMessages[0])}`,
    );
  });
}

function firstLine(message = ""): string {
  return message.split("\n", 1)[0] ?? "";
}

function start(command: readonly string[], output: "inherit" | "pipe"): ChildProcess {
  const [program = "", ...args] = command;
  print(`— ${command.join(" ")}`);
  return spawn(join(root, "node_modules/.bin", program), args, {
    cwd: root,
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

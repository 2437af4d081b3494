import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** What a run of Vitest came to. */
export type Tally = {
  passed: number;
  failed: number;
  /** What failed, with its file and the first line of its error. */
  failures: string[];
};

/** Where `test/all.ts` wants to read it; without it nothing is written. */
const { TALLY_FILE: tallyFile } = process.env;

/** Tallies the tests of a run, and what failed beside them (hooks, files that do not load). */
export class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    if (tallyFile === undefined) return;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map((error) => `unhandled: ${firstLine(error)}`),
    ];
    const passed = tests.filter((test) => test.result().state === "passed").length;
    const tally: Tally = { passed, failed: failures.length, failures };
    writeFileSync(tallyFile, JSON.stringify(tally));
  }
}

function failuresOf(module: TestModule): string[] {
  const { children, relativeModuleId: file } = module;
  const tests = [...children.allTests()].filter((test) => test.result().state === "failed");
  const suites = [...children.allSuites()].flatMap((suite) =>
    suite.errors().map((error) => `${suite.fullName}: ${firstLine(error)}`),
  );
  return [
    ...module.errors().map(firstLine),
    ...suites,
    ...tests.map((test) => `${test.fullName}: ${firstLine(test.result().errors?.[0])}`),
  ].map((failure) => `${file}: ${failure}`);
}

const firstLine = (error: SerializedError | undefined): string =>
  error?.message.split("\n", 1)[0] ?? "";

import type { Verdict } from "./checks/scenario.ts";

export type RunVerdict = Verdict & { readonly subject: string; readonly run: number };

/** A row for each check, a column for each subject: it passes where it passed in every run. */
export function renderTable(verdicts: readonly RunVerdict[]): string {
  const subjects = [...new Set(verdicts.map(({ subject }) => subject))];
  const checks = [...new Set(verdicts.map(({ check }) => check))];
  const of = (check: string, subject: string) =>
    verdicts.filter((one) => one.check === check && one.subject === subject);
  const lines = checks.map((check) => {
    const cells = subjects.map((subject) => cellOf(of(check, subject)));
    return `| ${[check, ...cells].join(" | ")} |`;
  });
  const totals = subjects.map((subject) => {
    const passed = checks.filter((check) => isPassed(of(check, subject)));
    return `${passed.length} of ${checks.length}`;
  });
  return [
    `| ${["check", ...subjects].join(" | ")} |`,
    `|${"---|".repeat(subjects.length + 1)}`,
    ...lines,
    `| ${["passed", ...totals].join(" | ")} |`,
  ].join("\n");
}

const isPassed = (runs: readonly RunVerdict[]): boolean =>
  runs.length > 0 && runs.every(({ isRight }) => isRight);

function cellOf(runs: readonly RunVerdict[]): string {
  const failed = runs.find(({ isRight }) => !isRight);
  const passes = runs.filter(({ isRight }) => isRight).length;
  const what = `${passes} of ${runs.length}`;
  return failed === undefined ? `pass ${what}` : `**fail** ${what}: ${failed.seen.slice(0, 120)}`;
}

import type { Command } from "commander";
import { findProblems } from "#api/run/inspection/find-problems.ts";
import type { Finding } from "#api/run/inspection/find-server-problems.ts";
import { withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";

/** `op doctor` */
export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check database, nodes, tables and disk; exit 1 when a fault is found")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      await withDatabase(
        "doctor",
        async ({ db, config }) => {
          const findings = await findProblems(db, config);
          print(
            json,
            { findings },
            findings.length === 0 ? ["no problem found"] : groupsOf(findings).map(linesOf),
          );
          if (findings.some(({ isFault }) => isFault)) process.exitCode = 1;
        },
        { mayLackMigrations: true },
      );
    });
}

/** Findings of one kind: about the same, with the same advice. */
function groupsOf(findings: readonly Finding[]): [Finding, ...Finding[]][] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const one of findings) {
    const key = JSON.stringify([one.about, one.isFault, one.advice]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/** Of a group that many are shown; `--json` has all. */
const mostShown = 5;

function linesOf([first, ...more]: [Finding, ...Finding[]]): string {
  const { about, isFault, finding, advice } = first;
  const title = isFault ? "FAULT " : "note  ";
  if (more.length === 0) return `${title} ${about}: ${finding}\n       ${advice}`;
  const shown = [first, ...more].slice(0, mostShown).map((one) => `       - ${one.finding}`);
  const left = more.length + 1 - shown.length;
  return [
    `${title} ${about}: ${more.length + 1} of a kind`,
    ...shown,
    ...(left > 0 ? [`       and ${left} more: --json has all`] : []),
    `       ${advice}`,
  ].join("\n");
}

import type { Command } from "commander";
import { findProblems } from "../../inspection/find-problems.ts";
import type { Finding } from "../../inspection/find-server-problems.ts";
import { withDatabase } from "../cli/open-database.ts";
import { printOfCell } from "../cli/output.ts";

/** `op doctor` */
export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check database, nodes, tables and disk; exit 1 when a fault is found")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      await withDatabase(
        "doctor",
        async ({ db, config, cell }) => {
          const findings = await findProblems(db, config);
          printOfCell(
            json,
            cell,
            { findings },
            findings.length === 0 ? ["no problem found"] : findings.map(lineOf),
          );
          if (findings.some(({ isFault }) => isFault)) process.exitCode = 1;
        },
        { mayLackMigrations: true },
      );
    });
}

const lineOf = ({ about, isFault, finding, advice }: Finding): string =>
  `${isFault ? "FAULT " : "note  "} ${about}: ${finding}\n       ${advice}`;

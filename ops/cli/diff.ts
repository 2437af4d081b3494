import { type Command, InvalidArgumentError } from "commander";
import {
  type Compared,
  compareDatabases,
  mostParts,
} from "#projections/engine/compare-databases.ts";
import { openDatabase } from "#projections/log/database.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import { chooseProjections } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, print } from "./output.ts";

/** Rows printed for the log, and for each projection. */
const MOST = 20;

type Options = JsonFlag & { wait: number };

/** `op diff <database> [projections]` */
export function addDiff(program: Command): void {
  program
    .command("diff")
    .description(
      "compare with another database that has the same log, such as a standby or a restored backup; exit 1 when a fact or a row differs, or cannot be compared",
    )
    .argument("<database>", "address of the other: postgres://…; a password may be in PGPASSWORD")
    .argument("[projections...]", "default: all")
    .option("--wait <seconds>", "until both are at one position", parseSeconds, 30)
    .action(async (address: string, names: string[], options: Options, command: Command) => {
      await withDatabase("diff", async ({ db, config }) => {
        const all = configuredProjections(config);
        const named = chooseProjections(command, all, names);
        const wanted = all.filter(({ name }) => named.includes(name));
        const there = openDatabase({
          ...{ url: address, applicationName: "op diff", max: 1, onIdleError: () => {} },
        });
        try {
          const waitMs = options.wait * 1_000;
          const found = await compareDatabases([db, there], wanted, { maxExamples: MOST, waitMs });
          print(
            options.json,
            { compared: found.map(presentCompared) },
            found.flatMap(linesOfCompared),
          );
          if (found.some(isUnequal)) process.exitCode = 1;
        } finally {
          await there.destroy();
        }
      });
    });
}

const isUnequal = ({ differentParts, untold }: Compared) =>
  differentParts > 0 || untold !== undefined;

function parseSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number of seconds");
}

function presentCompared({ name, position, rows, examples, ...more }: Compared) {
  const differences = examples.map(({ table, here, there }) => {
    return { table, here: parsedRow(here), there: parsedRow(there) };
  });
  return { name, position: Number(position), rows: Number(rows), ...more, differences };
}

const parsedRow = (row: string | null): unknown => (row === null ? null : JSON.parse(row));

function linesOfCompared({ name, position, rows, ...found }: Compared): string[] {
  const { differentParts, examples, untold } = found;
  if (untold !== undefined) return [`${name}: not compared, ${untold}`];
  const verdict =
    differentParts === 0
      ? "no row differs"
      : `rows differ in ${differentParts} of ${mostParts} parts of its tables`;
  return [
    `${name}: ${rows} rows compared at position ${position}, ${verdict}`,
    ...examples.flatMap(({ table, here, there }) => [
      `  ${table} here  ${here ?? "no such row"}`,
      `  ${" ".repeat(table.length)} there ${there ?? "no such row"}`,
    ]),
  ];
}

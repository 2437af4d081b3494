import { type Command, InvalidArgumentError } from "commander";
import type { Projection } from "#projections/engine/projection.ts";
import { type RowDifference, type Verification, verify } from "#projections/engine/verify.ts";
import type { Database } from "#projections/log/database.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import { stringify } from "../reports/present-fact.ts";
import { type NamedBlock, verifyAt } from "../reports/verify-at.ts";
import { chooseProjections, parseNamedBlock } from "./arguments.ts";
import { withDatabase } from "./open-database.ts";
import { openProgress, print, reportBuild } from "./output.ts";

/** Differing rows printed per projection; all are counted. */
const MOST = 20;

/** `op verify [projection]`, `op verify --at <chain:block>` */
export function addVerify(program: Command): void {
  program
    .command("verify")
    .description("derive projections again and compare every row; exit 1 when a row differs")
    .argument("[projection]", "default: all")
    .option(
      "--sample <keys>",
      "compare only the rows of this many keys; with --at, of this many contracts",
      parseCount,
    )
    .option(
      "--at <chain:block>",
      "ownership at the end of a block: compare holders by today's rows, without what moved since, with those by the log alone",
      parseNamedBlock,
    )
    .action(async (name: string | undefined, options: Options, command: Command) => {
      const { at } = options;
      if (at !== undefined && name !== undefined && name !== "ownership")
        command.error("--at is for ownership alone", { exitCode: 2 });
      await withDatabase(
        "verify",
        async ({ db, config }) => {
          if (at !== undefined) return await verifyBlock(db, at, options);
          const found: Verification[] = [];
          for (const projection of choose(command, configuredProjections(config), name, options)) {
            found.push(await verifyOne(db, projection, options.sample));
          }
          print(options.json, { verified: found.map(present) }, found.flatMap(linesOf));
          if (found.some(({ different }) => different > 0n)) process.exitCode = 1;
        },
        { as: "projector" },
      );
    });
}

async function verifyBlock(db: Database, at: NamedBlock, { sample, json }: Options) {
  const { content, lines, different } = await verifyAt(db, at, { sample, maxExamples: MOST });
  print(json, content, lines);
  if (different > 0) process.exitCode = 1;
}

/** The named projection, or all that can be verified as requested; prints those that are skipped. */
function choose(
  command: Command,
  all: readonly Projection[],
  name: string | undefined,
  { sample }: Options,
): readonly Projection[] {
  const named = chooseProjections(command, all, name === undefined ? [] : [name]);
  if (name !== undefined || sample === undefined) {
    return all.filter((one) => named.includes(one.name));
  }
  const whole = all.filter((one) => one.sample === undefined).map((one) => one.name);
  if (whole.length > 0) {
    process.stderr.write(
      `skipped, because they can only be verified completely: ${whole.join(", ")}\n`,
    );
  }
  return all.filter((one) => one.sample !== undefined);
}

async function verifyOne(db: Database, projection: Projection, sample: number | undefined) {
  const progress = openProgress("deriving");
  const found = await verify(db, projection, {
    maxExamples: MOST,
    ...(sample === undefined ? {} : { sample }),
    onProgress: reportBuild(progress),
  });
  progress.end();
  return found;
}

type Options = { sample?: number; at?: NamedBlock; json?: boolean };

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError("expected a whole number above 0");
}

function present({ projection, position, compared, different, examples }: Verification) {
  return {
    projection,
    position: Number(position),
    compared: Number(compared),
    different: Number(different),
    differences: examples,
  };
}

function linesOf({ projection, position, compared, different, examples }: Verification): string[] {
  const verdict = different === 0n ? "no row differs" : `${different} differ`;
  const lines = [`${projection}: ${compared} rows compared at position ${position}, ${verdict}`];
  for (const example of examples) lines.push(...linesOfDifference(example));
  const untold = Number(different) - examples.length;
  if (untold > 0) lines.push(`  … and ${untold} more`);
  return lines;
}

function linesOfDifference({ table, stored, derived }: RowDifference): string[] {
  return [
    `  ${table} holds   ${stored === null ? "no such row" : stringify(stored)}`,
    `  ${" ".repeat(table.length)} expected ${derived === null ? "no such row" : stringify(derived)}`,
  ];
}

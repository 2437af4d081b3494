import { type Command, InvalidArgumentError } from "commander";
import type { Database } from "../../../../projections/database.ts";
import { releaseQuarantined } from "../../../../projections/engine/release-quarantined.ts";
import { isQuarantined, readQuarantine, type QuarantineEntry } from "../../../../projections/engine/quarantine.ts";
import { type PlacedFact, readFactsAfter } from "../../../../projections/log/facts-behind.ts";
import { lineOf, presentFact } from "../cli/fact-lines.ts";
import { configuredProjections, withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { openProgress } from "../cli/progress.ts";
import { rebuildShown } from "./rebuild.ts";

type Options = { json?: boolean };
type Held = { verdict: QuarantineEntry; fact: PlacedFact | undefined };

/** `op quarantine list|release` */
export function addQuarantine(program: Command): void {
  const quarantine = program
    .command("quarantine")
    .description("facts that a projection could not take in and leaves out");
  quarantine
    .command("list")
    .description("print them, with what the database said")
    .option("--json", "for machines")
    .action(async ({ json }: Options) => {
      await withDatabase("quarantine", async ({ db }) => {
        const held = await readHeld(db);
        const lines = held.length === 0 ? ["no fact is put aside"] : held.flatMap(linesOf);
        print(json, { quarantined: held.map(present) }, lines);
      });
    });
  quarantine
    .command("release")
    .description(
      "derive anew with it what holds it and what reads that; what fails again holds it again",
    )
    .argument("<position>", "of the fact", parsePosition)
    .option("--projection <name>", "for this one only")
    .option("--json", "for machines")
    .action(async (position: bigint, options: Options & { projection?: string }) => {
      await withDatabase("quarantine", async ({ db, config }) => {
        const { json, projection = null } = options;
        const progress = openProgress("rebuilding");
        const { released, failure } = await releaseQuarantined(db, configuredProjections(config), {
          ...{ fact: position, projection },
          rebuildOne: (one) => rebuildShown(db, one, { json, progress }),
        }).finally(progress.end);
        const content = {
          ...{ position: Number(position), released },
          ...(failure === null ? {} : { error: failure.message }),
        };
        print(json, content, outcomeLines(position, released, failure));
        if (failure !== null) process.exitCode = 1;
      });
    });
}

function outcomeLines(position: bigint, released: readonly string[], failure: Error | null) {
  if (released.length === 0 && failure === null) return [`${position} is not put aside`];
  return [
    ...(released.length === 0 ? [] : [`${position} is taken in again by ${released.join(", ")}`]),
    ...(failure === null ? [] : [`${position} is still put aside: ${failure.message}`]),
  ];
}

async function readHeld(db: Database): Promise<Held[]> {
  const verdicts = (await readQuarantine(db)).filter(isQuarantined);
  const everything = { kinds: null, chainIds: null };
  return await Promise.all(
    verdicts.map(async (verdict) => {
      const { fact } = verdict;
      const [placed] = await readFactsAfter(db, { ...everything, after: fact - 1n }, fact, 1);
      return { verdict, fact: placed };
    }),
  );
}

function present({ verdict, fact }: Held) {
  const { projection, error, recordedAt } = verdict;
  return { projection, error, since: recordedAt.toISOString(), fact: fact && presentFact(fact) };
}

function linesOf({ verdict, fact }: Held): string[] {
  const { projection, error, recordedAt } = verdict;
  return [
    `${projection} leaves out  ${fact === undefined ? verdict.fact : lineOf(fact)}`,
    `    since ${recordedAt.toISOString()}: ${error}`,
    ...(fact?.block == null ? [] : [`    block ${fact.block.hash}`]),
    ...(fact?.transactionHash == null ? [] : [`    transaction ${fact.transactionHash}`]),
  ];
}

function parsePosition(text: string): bigint {
  if (/^[1-9]\d{0,17}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("a position of the log is expected");
}

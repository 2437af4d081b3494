import { type Command, InvalidArgumentError } from "commander";
import { releaseQuarantined } from "#projections/engine/release-quarantined.ts";
import { configuredProjections } from "../reports/inspected-config.ts";
import {
  lineOf,
  presentQuarantined,
  type QuarantinedFact,
  readQuarantinedFacts,
} from "../reports/present-fact.ts";
import { withDatabase } from "./open-database.ts";
import { type JsonFlag, openProgress, print } from "./output.ts";
import { rebuildShown } from "./rebuild.ts";

/** `op quarantine list|release` */
export function addQuarantine(program: Command): void {
  const quarantine = program
    .command("quarantine")
    .description("facts that a projection failed to apply and excludes");
  quarantine
    .command("list")
    .description("list them with the error of the database")
    .action(async ({ json }: JsonFlag) => {
      await withDatabase("quarantine", async ({ db }) => {
        const held = await readQuarantinedFacts(db);
        const lines = held.length === 0 ? ["no fact is quarantined"] : held.flatMap(linesOf);
        print(json, { quarantined: held.map(presentQuarantined) }, lines);
      });
    });
  quarantine
    .command("release")
    .description(
      "rebuild the projections that exclude a fact with the fact included; a fact that fails again stays quarantined",
    )
    .argument("<position>", "position of the fact", parsePosition)
    .option("--projection <name>", "only this projection")
    .action(async (position: bigint, options: JsonFlag & { projection?: string }) => {
      await withDatabase(
        "quarantine",
        async ({ db, config }) => {
          const { json, projection = null } = options;
          const progress = openProgress("rebuilding");
          const { released, failure } = await releaseQuarantined(
            db,
            configuredProjections(config),
            {
              fact: position,
              projection,
              rebuildOne: (one) => rebuildShown(db, one, { json, progress }),
            },
          ).finally(progress.end);
          const content = {
            position: Number(position),
            released,
            ...(failure === null ? {} : { error: failure.message }),
          };
          print(json, content, outcomeLines(position, released, failure));
          if (failure !== null) process.exitCode = 1;
        },
        { as: "projector" },
      );
    });
}

function outcomeLines(position: bigint, released: readonly string[], failure: Error | null) {
  if (released.length === 0 && failure === null) return [`${position} is not quarantined`];
  return [
    ...(released.length === 0 ? [] : [`${position} is released in ${released.join(", ")}`]),
    ...(failure === null ? [] : [`${position} is still quarantined: ${failure.message}`]),
  ];
}

function linesOf({ entry, fact }: QuarantinedFact): string[] {
  const { projection, error, recordedAt } = entry;
  return [
    `${projection} excludes  ${fact === undefined ? entry.fact : lineOf(fact)}`,
    `    since ${recordedAt.toISOString()}: ${error}`,
    ...(fact?.block == null ? [] : [`    block ${fact.block.hash}`]),
    ...(fact?.transactionHash == null ? [] : [`    transaction ${fact.transactionHash}`]),
  ];
}

function parsePosition(text: string): bigint {
  if (/^[1-9]\d{0,17}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("expected a position of the log");
}

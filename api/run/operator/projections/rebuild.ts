import type { Command } from "commander";
import type { Database } from "../../../../projections/database.ts";
import { shadowSchemas } from "../../../../projections/engine/shadow-schema.ts";
import { readCheckpoints } from "../../../../projections/engine/checkpoint.ts";
import { runConcurrently, dependsOn } from "../../../../projections/engine/run-concurrently.ts";
import type { Projection } from "../../../../projections/engine/projection.ts";
import { rebuild, withDependents } from "../../../../projections/engine/rebuild.ts";
import { type StartedRebuild, startRebuild } from "../../../../projections/engine/rebuild-progress.ts";
import { configuredProjections, withDatabase } from "../cli/open-database.ts";
import { print } from "../cli/output.ts";
import { openProgress, type Progress } from "../cli/progress.ts";
import { chooseProjections } from "./choose-projections.ts";

/** `op rebuild [projection…]` */
export function addRebuild(program: Command): void {
  program
    .command("rebuild")
    .description("derive projections anew beside the serving tables and exchange the two")
    .argument("[projection...]", "all of them when none is named")
    .option("--anew", "from the beginning, also where the same rebuild was killed")
    .option("--json", "for machines")
    .action(async (names: string[], { json, anew }: Options, command: Command) => {
      await withDatabase("rebuild", async ({ db, config }) => {
        const all = configuredProjections(config);
        const named = chooseProjections(command, all, names);
        const rebuilt = await rebuildChosen(db, withDependents(all, named), { named, json, anew });
        print(json, { rebuilt }, []);
      });
    });
}

type Options = { json?: boolean | undefined; anew?: boolean | undefined };

async function rebuildChosen(
  db: Database,
  chosen: readonly Projection[],
  { named, json, anew }: Options & { named: readonly string[] },
) {
  const run = await startRebuild(db, chosen, anew === true);
  if (run.isResumed) process.stderr.write(`${takenUpWords(run)}\n`);
  for (const projection of run.remaining) {
    if (named.includes(projection.name)) continue;
    process.stderr.write(`${reasonFor(projection, chosen)}\n`);
  }
  const progress = openProgress("rebuilding");
  const rebuildOne = (projection: Projection) => rebuildShown(db, projection, { json, progress });
  return await runConcurrently(run.remaining, rebuildOne, dependsOn).finally(progress.end);
}

function takenUpWords({ names, remaining, startedAt }: StartedRebuild): string {
  const done = names.filter((one) => remaining.every(({ name }) => name !== one));
  const words = done.length === 0 ? "none was done" : `done are ${done.join(", ")}`;
  return `going on with the rebuild begun ${startedAt.toISOString()}, ${words}; --anew begins from the beginning`;
}

function reasonFor({ name, reads = [] }: Projection, chosen: readonly Projection[]): string {
  const read = chosen.filter((one) => reads.includes(one.name)).map((one) => one.name);
  return `${name} is rebuilt too: it reads ${read.join(" and ")}`;
}

/** Rebuilds one, and says what came of it. */
export async function rebuildShown(
  db: Database,
  projection: Projection,
  { json, progress }: { json?: boolean | undefined; progress: Progress },
) {
  const { name, version } = projection;
  const before = (await readCheckpoints(db)).get(name);
  const begun = performance.now();
  await rebuild(db, projection, progress.report);
  progress.done(name);
  const seconds = (performance.now() - begun) / 1_000;
  const position = (await readCheckpoints(db)).get(name)?.position ?? 0n;
  const kept = before === undefined ? null : shadowSchemas(name).previous;
  const rate = Math.round(Number(position) / seconds);
  const words = `${name} rebuilt: ${position} facts in ${seconds.toFixed(1)} s, ${rate} facts/s`;
  const advice =
    before !== undefined && before.version !== version
      ? `; it was version ${before.version}: a projector of that version has to be started again`
      : "";
  if (json !== true) {
    process.stdout.write(`${words}${kept === null ? "" : `; ${kept} kept`}${advice}\n`);
  }
  return { projection: name, version, position: Number(position), seconds, previous: kept };
}

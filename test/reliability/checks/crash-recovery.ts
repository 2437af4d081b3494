import { setTimeout as delay } from "node:timers/promises";
import { usualBlocks } from "../chain/provable-chain.ts";
import { describeDifference, type RecordDifference } from "../subjects/compare-records.ts";
import { holds, type Outcome, type Trial, withTrial } from "../trial.ts";
import { writtenPrefix } from "./prefix.ts";
import { patience, type Scenario } from "./scenario.ts";

const outageMs = 10_000;
const frozenMs = 30_000;
const blockMs = 2_000;

const databaseRestart: Scenario = {
  group: "db-restart",
  checks: ["recovers-backfill", "recovers-head", "recovers-pause", "no-loss", "no-duplicates"],
  run: ({ subject, directory, report }) =>
    withTrial({ subject, directory, history: usualBlocks(900) }, async (trial) => {
      const { server, chain } = trial;
      await trial.start();
      await untilRows(trial, 400);
      await server.stop();
      await delay(outageMs / 2);
      chain.add(usualBlocks(30));
      await delay(outageMs / 2);
      await server.start();
      report("recovers-backfill", await growsAgain(trial));
      chain.add(usualBlocks(50));
      await trial.untilClean(patience.seconds);
      const stopFollowing = trial.follow(blockMs);
      await delay(5 * blockMs);
      await server.stop();
      await delay(outageMs);
      await server.start();
      report("recovers-head", await growsAgain(trial));
      await trial.server.freeze();
      await delay(frozenMs);
      await trial.server.thaw();
      report("recovers-pause", await growsByItself(trial));
      stopFollowing();
      await reportLosses(trial, report);
    }),
};

const kills = [200, 700, 1_200];

const processKill: Scenario = {
  group: "process-kill",
  checks: ["atomic-batch", "resumes", "no-gap", "no-double-apply"],
  run: ({ subject, directory, report }) =>
    withTrial({ subject, directory, history: usualBlocks(900) }, async (trial) => {
      for (const [index, rows] of kills.entries()) {
        await trial.start();
        await untilRows(trial, rows);
        await trial.running().kill();
        if (index === 0) {
          await delay(1_000);
          report("atomic-batch", await writtenPrefix(trial));
        }
        trial.chain.add(usualBlocks(20));
      }
      await trial.start();
      const reached = await trial.untilClean(patience.startSeconds);
      const difference = await trial.difference();
      report("resumes", { ...reached, isRight: difference.missing.length === 0 });
      report("no-gap", lossOf(difference));
      report("no-double-apply", excessOf(difference));
    }),
};

const gracefulShutdown: Scenario = {
  group: "graceful-shutdown",
  checks: ["exits-clean", "flushes"],
  run: ({ subject, directory, report }) =>
    withTrial({ subject, directory, history: usualBlocks(400) }, async (trial) => {
      await trial.start();
      await untilRows(trial, 40);
      const seconds = await trial.running().stop();
      report("exits-clean", { isRight: seconds <= 15, seen: `gone after ${seconds} s` });
      report("flushes", await writtenPrefix(trial));
    }),
};

export const crashRecovery: readonly Scenario[] = [databaseRestart, processKill, gracefulShutdown];

async function untilRows(trial: Trial, rows: number): Promise<void> {
  const isThere = await holds(
    patience.startSeconds,
    async () => ((await trial.progress())?.rows ?? 0) >= rows,
  );
  if (!isThere) throw new Error(`${rows} rows did not come`);
}

/** Rows more than now within the time; `isRight` without a restart by hand. */
async function growsByItself(trial: Trial): Promise<Outcome> {
  const startedAt = Date.now();
  const before = (await trial.progress())?.rows ?? 0;
  const isRight = await holds(
    patience.seconds,
    async () => ((await trial.progress())?.rows ?? 0) > before,
  );
  const seconds = Math.round((Date.now() - startedAt) / 1_000);
  return { isRight, seen: `${isRight ? "moves" : "stands still"} after ${seconds} s` };
}

/** A restart by hand is allowed, and told. */
async function growsAgain(trial: Trial): Promise<Outcome> {
  const alone = await growsByItself(trial);
  if (alone.isRight) return alone;
  if (!trial.running().hasExited()) await trial.running().stop();
  await trial.start();
  const outcome = await growsByItself(trial);
  return { ...outcome, seen: `${outcome.seen} of a restart by hand` };
}

/** Waits for what the chain has, and says what was lost and what is too much. */
export async function reportLosses(
  trial: Trial,
  report: (check: string, outcome: Outcome) => void,
): Promise<void> {
  const reached = await trial.untilClean(patience.seconds);
  const difference = await trial.difference();
  report("no-loss", { ...lossOf(difference), seen: reached.seen });
  report("no-duplicates", excessOf(difference));
}

/** A stored branch that the chain left counts as loss of the present one only. */
const lossOf = (difference: RecordDifference): Outcome => ({
  isRight: difference.missing.length === 0,
  seen: describeDifference(difference),
});

const excessOf = (difference: RecordDifference): Outcome => ({
  isRight:
    difference.doubled.length === 0 &&
    difference.foreign.length === 0 &&
    (difference.missing.length > 0 || difference.derived.length === 0),
  seen: describeDifference(difference),
});

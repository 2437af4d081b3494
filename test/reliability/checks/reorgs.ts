import { setTimeout as delay } from "node:timers/promises";
import { emptyBlocks, usualBlocks } from "../chain/provable-chain.ts";
import { holds, type Trial, withTrial } from "../trial.ts";
import { patience, type Scenario, withLiveTrial } from "./scenario.ts";

const atTheHead: Scenario = {
  group: "reorg",
  checks: ["shallow", "removes-event", "shortening", "storm", "while-down"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      const { chain } = trial;
      const settled = () => trial.untilClean(patience.seconds);
      chain.add(usualBlocks(3));
      await settled();
      chain.replace(1, usualBlocks(1));
      chain.add(usualBlocks(3));
      context.report("shallow", await settled());
      chain.replace(3, emptyBlocks(3));
      context.report("removes-event", await settled());
      chain.replace(6, usualBlocks(3));
      context.report("shortening", await settled());
      chain.add(usualBlocks(6));
      await settled();
      for (const [depth, plans] of storm) {
        chain.replace(depth, plans);
        await delay(4_000);
      }
      context.report("storm", await settled());
      chain.add(usualBlocks(6));
      await settled();
      await trial.running().stop();
      chain.replace(5, usualBlocks(5));
      await trial.start();
      context.report("while-down", await trial.untilClean(patience.startSeconds));
    }),
};

const storm = [
  [3, usualBlocks(3)],
  [4, emptyBlocks(4)],
  [2, usualBlocks(2)],
] as const;

const duringBackfill: Scenario = {
  group: "reorg",
  checks: ["during-backfill"],
  run: ({ subject, directory, report }) =>
    withTrial({ subject, directory, history: usualBlocks(900) }, async (trial) => {
      await trial.start();
      await holds(patience.startSeconds, async () => ((await trial.progress())?.rows ?? 0) > 0);
      trial.chain.replace(4, usualBlocks(60));
      report("during-backfill", await trial.untilClean(patience.startSeconds));
    }),
};

const deep: Scenario = {
  group: "reorg",
  checks: ["deep"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(300) }, async (trial) => {
      const { chain } = trial;
      chain.add(usualBlocks(20));
      await trial.untilClean(patience.seconds);
      const formerHead = chain.head().number;
      chain.replace(80, usualBlocks(90));
      context.report("deep", await rightOrStopped(trial, formerHead));
    }),
};

export const reorgs: readonly Scenario[] = [atTheHead, duringBackfill, deep];

/** All as on the chain; or it says so by ending, or by writing no block above the former head. */
async function rightOrStopped(trial: Trial, formerHead: number) {
  const outcome = await trial.untilClean(patience.seconds / 2);
  if (outcome.isRight) return outcome;
  if (trial.running().hasExited()) return { isRight: true, seen: "it ended" };
  const progress = await trial.progress();
  const isStopped = progress !== null && progress.ownersAt <= formerHead;
  return { isRight: isStopped, seen: isStopped ? "stopped at the former head" : outcome.seen };
}

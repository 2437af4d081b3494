import { setTimeout as delay } from "node:timers/promises";
import { usualBlocks } from "../chain/provable-chain.ts";
import type { Faults } from "../node/faults.ts";
import { prunedWithError } from "../node/serve-logs.ts";
import { holds, type Outcome, type Trial, withTrial } from "../trial.ts";
import { getLogsTexts } from "./getlogs-texts.ts";
import { backfillOf, patience, type Scenario } from "./scenario.ts";

const firstBlock = 1_000_000;

/** A backfill of 300 blocks through nodes that do this. */
function backfill(check: string, nodes: readonly Partial<Faults>[], blocks = 300): Scenario {
  return {
    group: "further",
    checks: [check],
    run: ({ subject, directory, report }) =>
      withTrial({ subject, directory, nodes, history: usualBlocks(blocks) }, async (trial) => {
        report(check, await backfillOf(trial));
      }),
  };
}

/** The only node is without old history, and then gets it. */
const prunedAlone: Scenario = {
  group: "further",
  checks: ["pruned-alone-told", "pruned-alone-repaired"],
  run: ({ subject, directory, report }) => {
    const nodes = [{ pruned: { below: firstBlock + 150, answer: "empty" as const } }];
    const options = {
      subject,
      directory,
      nodes,
      history: usualBlocks(300),
      roles: ["api"] as const,
    };
    return withTrial(options, async (trial) => {
      await trial.start();
      report("pruned-alone-told", await toldWhileIncomplete(trial));
      trial.node.faults.pruned = null;
      report("pruned-alone-repaired", await trial.untilClean(patience.seconds));
    });
  },
};

const watchedMs = 90_000;

/** Never ready, and never all of history proved, while rows are missing. */
async function toldWhileIncomplete(trial: Trial): Promise<Outcome> {
  await holds(patience.startSeconds, async () => (await trial.running().readiness()) !== null);
  const endsAt = Date.now() + watchedMs;
  while (Date.now() < endsAt) {
    const readiness = await trial.running().readiness();
    const { missing } = await trial.difference();
    if (
      readiness?.status === 200 &&
      missing.length > 0 &&
      !tellsIncompleteHistory(readiness.text)
    ) {
      return { isRight: false, seen: `ready, and ${missing.length} rows missing` };
    }
    await delay(1_000);
  }
  const last = await trial.running().readiness();
  return { isRight: true, seen: `told: ${last?.status} ${last?.text.slice(0, 200)}` };
}

/** Whether an answer of `/readyz` warns that history is not all there. */
export const tellsIncompleteHistory = (text: string): boolean =>
  /history|incomplete|prove[dn]|missing|behind|catching/i.test(text);

const nullsInHistory = backfill("nulls-in-history", [
  { nullsLeft: new Map([[firstBlock + 100, 9]]) },
]);

const hiddenRange = backfill("hidden-range", [
  { hidden: { from: firstBlock + 120, to: firstBlock + 120, timesLeft: 1 } },
]);

const pruned = { below: firstBlock + 150, answer: "empty" as const };
const secondNode = backfill("pruned-second-node", [{ pruned }, {}]);
const prunedError = backfill("pruned-error-second-node", [
  { pruned: prunedWithError(firstBlock + 150) },
  {},
]);

const unknownTexts = backfill(
  "getlogs-texts",
  [{ caps: { blocks: 40, results: Number.POSITIVE_INFINITY, errors: getLogsTexts } }],
  400,
);

const forms = backfill("answer-forms", [
  { form: { errorNull: true, textIds: true, reversed: true, noVersion: true } },
]);

const laggingLogs = backfill("logs-of-a-lagging-node", [
  { lag: { blocks: 60, share: 0.5, of: "logs", beyondHead: "empty" } },
]);

const noReceipts = backfill("receipts-unknown", [{ receipts: "unknown", largestBatch: 0 }]);

const doubledHistory = backfill("doubled-logs-in-history", [
  { doubled: { ranges: true, byHash: true } },
]);

const overCap: Scenario = {
  group: "further",
  checks: ["over-cap-block-in-history", "over-cap-block-live"],
  run: ({ subject, directory, report }) => {
    const history = [...usualBlocks(60), { moreMints: 20_000 }, ...usualBlocks(60)];
    const error = { code: -32_005, message: "query returned more than 10000 results" };
    const nodes = [{ caps: { blocks: 10_000, results: 10_000, errors: [error] } }];
    return withTrial({ subject, directory, nodes, history }, async (trial) => {
      report("over-cap-block-in-history", await backfillOf(trial));
      trial.chain.add([{ moreMints: 20_000 }, ...usualBlocks(5)]);
      report("over-cap-block-live", await trial.untilClean(patience.seconds));
    });
  },
};

export const furtherHistory: readonly Scenario[] = [
  ...[nullsInHistory, hiddenRange, prunedAlone, secondNode, prunedError, unknownTexts],
  ...[laggingLogs, forms, noReceipts, doubledHistory, overCap],
];

import { setTimeout as delay } from "node:timers/promises";
import { usualBlocks } from "../chain/provable-chain.ts";
import type { HttpFault } from "../node/faults.ts";
import type { FaultyNode } from "../node/node-state.ts";
import { holds, type Outcome, type Trial, withTrial } from "../trial.ts";
import { reportLosses } from "./crash-recovery.ts";
import { backfillOf, both, patience, type Scenario, withLiveTrial } from "./scenario.ts";

const blockMs = 2_000;
const faultMs = 30_000;
const outages: readonly HttpFault[] = ["error", "429", "502", "silent"];

const outage: Scenario = {
  group: "rpc-outage",
  checks: ["survives", "backs-off", "resumes", "no-loss"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(300) }, async (trial) => {
      const { node, chain } = trial;
      const stopFollowing = trial.follow(blockMs);
      const healthy = await highestRate(node, faultMs / 2);
      const rates: number[] = [];
      for (const fault of outages) {
        node.faults.http = { fault, share: 1, of: "all" };
        rates.push(await highestRate(node, faultMs));
      }
      node.faults.http = null;
      const isAlive = !trial.running().hasExited();
      context.report("survives", { isRight: isAlive, seen: isAlive ? "it runs" : "it ended" });
      context.report("backs-off", {
        isRight: rates.every((rate) => rate <= Math.max(20, 20 * healthy)),
        seen: `at most ${rates.join(", ")} a second, ${healthy} when well`,
      });
      stopFollowing();
      chain.add(usualBlocks(50));
      context.report("resumes", await growsWithin(trial, patience.seconds));
      chain.add(usualBlocks(20));
      context.report("no-loss", await trial.untilClean(patience.seconds));
    }),
};

/** Requests of the busiest second. */
async function highestRate({ counts }: FaultyNode, forMs: number): Promise<number> {
  let highest = 0;
  const endsAt = Date.now() + forMs;
  while (Date.now() < endsAt) {
    const before = counts.requests;
    await delay(1_000);
    highest = Math.max(highest, counts.requests - before);
  }
  return highest;
}

async function growsWithin(trial: Trial, seconds: number): Promise<Outcome> {
  const before = (await trial.progress())?.rows ?? 0;
  const startedAt = Date.now();
  const isRight = await holds(seconds, async () => ((await trial.progress())?.rows ?? 0) > before);
  return { isRight, seen: `moves after ${Math.round((Date.now() - startedAt) / 1_000)} s` };
}

const chaosMs = 120_000;
const chaosStepMs = 10_000;
const chaosShare = 0.12;
type ChaosStep = (node: FaultyNode) => void;
const failing =
  (fault: HttpFault, of: "all" | "logs" = "all"): ChaosStep =>
  ({ faults }) => {
    faults.http = { fault, share: chaosShare, of };
  };
const chaosSteps: readonly ChaosStep[] = [
  ...(["error", "429", "502", "cut", "closed"] as const).map((fault) => failing(fault)),
  ({ faults }) => {
    faults.nullBlocks = chaosShare;
  },
  failing("silent", "logs"),
];

const chaos: Scenario = {
  group: "rpc-chaos",
  checks: ["survives", "catches-up", "no-loss", "no-duplicates"],
  run: ({ subject, directory, report }) =>
    withTrial({ subject, directory, history: usualBlocks(1_500) }, async (trial) => {
      const { node } = trial;
      await trial.start();
      await holds(patience.startSeconds, () => node.counts.requests > 0);
      for (let step = 0; step * chaosStepMs < chaosMs; step += 1) {
        Object.assign(node.faults, { http: null, nullBlocks: 0 });
        chaosSteps[step % chaosSteps.length]?.(node);
        await delay(chaosStepMs);
      }
      Object.assign(node.faults, { http: null, nullBlocks: 0 });
      const isAlive = !trial.running().hasExited();
      const struck = `${node.counts.struck} of ${node.counts.requests} requests`;
      report("survives", { isRight: isAlive, seen: struck });
      const head = trial.chain.head().number;
      const isThere = await holds(
        2 * patience.seconds,
        async () => ((await trial.progress())?.ownersAt ?? 0) >= head,
      );
      report("catches-up", { isRight: isThere, seen: isThere ? "at the head" : "not at the head" });
      await reportLosses(trial, report);
    }),
};

const limit = (text: string) => [{ code: -32_005, message: text }];

const rangeLimit: Scenario = {
  group: "rpc-limits",
  checks: ["splits-range"],
  run: ({ subject, directory, report }) => {
    const errors = limit("exceed maximum block range: 1000");
    const nodes = [{ caps: { blocks: 1_000, results: Number.POSITIVE_INFINITY, errors } }];
    return withTrial({ subject, directory, nodes, history: usualBlocks(2_000) }, async (trial) => {
      report("splits-range", await backfillOf(trial));
    });
  },
};

const resultLimit: Scenario = {
  group: "rpc-limits",
  checks: ["splits-results"],
  run: ({ subject, directory, report }) => {
    const errors = limit("query returned more than 500 results");
    const nodes = [{ caps: { blocks: Number.POSITIVE_INFINITY, results: 500, errors } }];
    return withTrial({ subject, directory, nodes, history: usualBlocks(2_000) }, async (trial) => {
      report("splits-results", await backfillOf(trial));
    });
  },
};

const inconsistency: Scenario = {
  group: "rpc-inconsistency",
  checks: ["head-goes-backwards", "duplicate-delivery", "missing-block", "stale-hash"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(300) }, async (trial) => {
      const { chain, node } = trial;
      node.faults.doubled = { ranges: true, byHash: false };
      chain.add(usualBlocks(40));
      context.report("duplicate-delivery", await trial.untilClean(patience.seconds));
      node.faults.doubled = { ranges: false, byHash: false };
      const stopFollowing = trial.follow(blockMs);
      context.report("head-goes-backwards", await throughLaggingHead(trial));
      node.faults.nullBlocks = 0.5;
      await delay(20_000);
      const isAlive = !trial.running().hasExited();
      node.faults.nullBlocks = 0;
      const alive = { isRight: isAlive, seen: isAlive ? "it runs" : "it ended" };
      context.report("missing-block", both(alive, await trial.untilClean(patience.seconds)));
      chain.replace(6, usualBlocks(7));
      stopFollowing();
      context.report("stale-hash", await trial.untilClean(patience.seconds));
    }),
};

async function throughLaggingHead(trial: Trial): Promise<Outcome> {
  const { faults } = trial.node;
  const before = (await trial.progress())?.rows ?? 0;
  faults.lag = { blocks: 30, share: 1, of: "all", beyondHead: "empty" };
  let fewest = before;
  const endsAt = Date.now() + 20_000;
  while (Date.now() < endsAt) {
    fewest = Math.min(fewest, (await trial.progress())?.rows ?? before);
    await delay(500);
  }
  faults.lag = null;
  const kept = { isRight: fewest >= before, seen: `${before - fewest} rows fewer meanwhile` };
  return both(kept, await growsWithin(trial, patience.seconds));
}

const subscriptionStall: Scenario = {
  group: "subscription-stall",
  checks: ["notices-quiet-subscription", "fills-quiet-gap"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      trial.node.faults.socket = "quiet";
      const stopFollowing = trial.follow(blockMs);
      await delay(60_000);
      stopFollowing();
      const head = trial.chain.head().number;
      const isThere = await holds(
        patience.seconds,
        async () => ((await trial.progress())?.ownersAt ?? 0) >= head,
      );
      const seen = isThere ? "at the head" : "not at the head";
      context.report("notices-quiet-subscription", { isRight: isThere, seen });
      trial.node.faults.socket = "well";
      trial.chain.add(usualBlocks(3));
      context.report("fills-quiet-gap", await trial.untilClean(patience.seconds));
    }),
};

export const rpcFaults: readonly Scenario[] = [
  ...[outage, chaos, rangeLimit, resultLimit, inconsistency, subscriptionStall],
];

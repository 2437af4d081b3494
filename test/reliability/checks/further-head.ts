import { setTimeout as delay } from "node:timers/promises";
import { emptyBlocks, growChain, orbitShape, usualBlocks } from "../chain/provable-chain.ts";
import { type Outcome, type Trial, withTrial } from "../trial.ts";
import { measure } from "./head-latency.ts";
import { backfillOf, patience, type Scenario, withLiveTrial } from "./scenario.ts";

const laggingMs = 60_000;

/** Half of the requests reach a node three blocks behind; the websocket is the better one's. */
const twoNodesOneUrl: Scenario = {
  group: "further",
  checks: ["two-nodes-one-url", "two-nodes-complete"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      trial.node.faults.lag = { blocks: 3, share: 0.5, of: "all", beyondHead: "empty" };
      const figures = await measure(trial, laggingMs / 1_000, 1_000);
      // Between two looks a block comes, which is not a lag.
      const isNear = figures.worstLag <= 3;
      context.report("two-nodes-one-url", {
        isRight: isNear,
        seen: `worst lag ${figures.worstLag} blocks`,
      });
      context.report("two-nodes-complete", await trial.untilClean(5));
    }),
};

const quiet: Scenario = {
  group: "further",
  checks: ["quiet-within-two-blocks"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      trial.node.faults.socket = "quiet";
      const { worstLag, isComplete } = await measure(trial, 30);
      context.report("quiet-within-two-blocks", {
        isRight: isComplete && worstLag <= 3,
        seen: `worst lag ${worstLag} blocks`,
      });
    }),
};

const sockets: Scenario = {
  group: "further",
  checks: ["socket-dead", "socket-refused"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      for (const socket of ["dead", "refused"] as const) {
        trial.node.faults.socket = socket;
        trial.node.cutSockets();
        trial.chain.add(usualBlocks(10));
        context.report(`socket-${socket}`, await trial.untilClean(patience.seconds));
      }
    }),
};

/** The public check doubles ranges only. */
const doubledByHash: Scenario = {
  group: "further",
  checks: ["doubled-logs-live"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      trial.node.faults.doubled = { ranges: true, byHash: true };
      const stopFollowing = trial.follow(1_000);
      await delay(20_000);
      stopFollowing();
      context.report("doubled-logs-live", await trial.untilClean(5));
    }),
};

const halted: Scenario = {
  group: "further",
  checks: ["halted-next-block", "hundred-at-once"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      await delay(60_000);
      const isAlive = !trial.running().hasExited();
      trial.chain.add(usualBlocks(1));
      const next = await trial.untilClean(5);
      context.report("halted-next-block", { ...next, isRight: next.isRight && isAlive });
      trial.chain.add(usualBlocks(100));
      context.report("hundred-at-once", await trial.untilClean(5));
    }),
};

/** Faults of logs at the head that last 20 s: nothing wrong is stored, and all is there afterwards. */
function falseLogs(
  check: string,
  spoil: (trial: Trial) => void,
  heal: (trial: Trial) => void,
): Scenario {
  return {
    group: "further",
    checks: [check],
    run: (context) =>
      withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
        spoil(trial);
        const stopFollowing = trial.follow(2_000);
        const meanwhile = await nothingFalseFor(trial, 20_000);
        heal(trial);
        stopFollowing();
        const after = await trial.untilClean(60);
        const isRight = meanwhile.isRight && after.isRight;
        context.report(check, { isRight, seen: `${meanwhile.seen}, ${after.seen}` });
      }),
  };
}

async function nothingFalseFor(trial: Trial, forMs: number): Promise<Outcome> {
  const endsAt = Date.now() + forMs;
  while (Date.now() < endsAt) {
    const { foreign, doubled } = await trial.difference();
    if (foreign.length + doubled.length > 0) {
      return { isRight: false, seen: `${foreign.length + doubled.length} false rows` };
    }
    await delay(1_000);
  }
  return { isRight: true, seen: "nothing false" };
}

const wrongHashes = falseLogs(
  "wrong-hashes-live",
  ({ node }) => {
    node.faults.hasWrongHashes = true;
  },
  ({ node }) => {
    node.faults.hasWrongHashes = false;
  },
);

const noLogs = falseLogs(
  "no-logs-live",
  ({ node }) => {
    node.faults.hasNoLogs = true;
  },
  ({ node }) => {
    node.faults.hasNoLogs = false;
  },
);

const finality: Scenario = {
  group: "further",
  checks: ["finalized-absent", "finalized-backwards"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(300) }, async (trial) => {
      const { node, chain } = trial;
      for (const [check, depth] of finalities) {
        node.faults.finalizedDepth = depth;
        chain.add(usualBlocks(5));
        chain.replace(3, usualBlocks(5));
        context.report(check, await trial.untilClean(patience.seconds));
      }
    }),
};

const finalities = [
  ["finalized-absent", null],
  ["finalized-backwards", 64],
  ["finalized-backwards", 190],
] as const;

const otherChain: Scenario = {
  group: "further",
  checks: ["another-chain-of-the-same-id"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200) }, async (trial) => {
      const { node, chain } = trial;
      await trial.running().stop();
      const former = await trial.difference();
      node.chain = growChain(usualBlocks(260), { world: 500 });
      await trial.start();
      await delay(40_000);
      const difference = await trial.difference();
      const isRight = difference.foreign.length === 0 && former.missing.length === 0;
      const seen = `${difference.foreign.length} foreign rows`;
      node.chain = chain;
      context.report("another-chain-of-the-same-id", { isRight, seen });
    }),
};

const orbit: Scenario = {
  group: "further",
  checks: ["orbit-chain", "false-deep-reorg"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(400), shape: orbitShape }, async (trial) => {
      const { chain, node } = trial;
      for (let round = 0; round < 5; round += 1) {
        chain.add(usualBlocks(8));
        await delay(1_000);
        chain.replace(1 + round, round === 2 ? emptyBlocks(4) : usualBlocks(4));
        await delay(1_000);
      }
      context.report("orbit-chain", await trial.untilClean(patience.seconds));
      node.faults.lag = { blocks: 40, share: 0.5, of: "all", beyondHead: "empty" };
      const stopFollowing = trial.follow(250);
      const meanwhile = await nothingFalseFor(trial, 30_000);
      stopFollowing();
      node.faults.lag = null;
      const after = await trial.untilClean(patience.seconds);
      const isRight = meanwhile.isRight && after.isRight;
      context.report("false-deep-reorg", { isRight, seen: `${meanwhile.seen}, ${after.seen}` });
    }),
};

const payments: Scenario = {
  group: "further",
  checks: ["logged-payments"],
  run: ({ subject, directory, report }) => {
    const history = usualBlocks(200).map(() => ({ logsPayments: true }));
    return withTrial({ subject, directory, history }, async (trial) => {
      report("logged-payments", await backfillOf(trial));
    });
  },
};

export const furtherHead: readonly Scenario[] = [
  ...[twoNodesOneUrl, quiet, sockets, doubledByHash, halted, wrongHashes, noLogs],
  ...[finality, otherChain, orbit, payments],
];

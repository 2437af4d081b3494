import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Random, seededRandom } from "#devnet/market/random.ts";
import { usualBlocks } from "./chain/provable-chain.ts";
import { tellsIncompleteHistory } from "./checks/further-history.ts";
import { patience, type Scenario } from "./checks/scenario.ts";
import { type Faults, noFaults } from "./node/faults.ts";
import type { RunningSubject } from "./subjects/subject.ts";
import { holds, type Trial, withTrial } from "./trial.ts";

const steps = 8;
const healSeconds = 60;

/**
 * Two nodes omit, double, delay, fork and lie as the seed draws it, the history too. When both are well, all is as on
 * the chain within a minute; and before, the service does not call itself ready without a warning while rows are missing
 * of blocks that it calls proved, or rows are left of a block that was replaced a step ago.
 */
export function faultLaw(seed: number): Scenario {
  const checks = [`seed ${seed} right`, `seed ${seed} told`];
  return {
    group: "fault-law",
    checks,
    run: ({ subject, directory, report }) => {
      const random = seededRandom(seed);
      const nodes = [drawFaults(random), drawFaults(random)];
      const history = usualBlocks(150 + random.below(150));
      const options = { subject, directory, nodes, history, roles: ["api"] as const };
      return withTrial(options, async (trial) => {
        await trial.start();
        await holds(patience.startSeconds, () => trial.node.counts.requests > 0);
        const untold: string[] = [];
        for (let step = 0; step < steps; step += 1) {
          const replacedFrom = await disturb(trial, random);
          untold.push(...(await findUntold(trial, replacedFrom)));
        }
        for (const node of trial.nodes) node.faults = noFaults();
        trial.chain.add(usualBlocks(2));
        report(`seed ${seed} right`, await trial.untilClean(healSeconds));
        const seen = untold[0] ?? "never ready while rows were missing";
        report(`seed ${seed} told`, { isRight: untold.length === 0, seen });
      });
    },
  };
}

/** The height from which on blocks were replaced now; beyond the head: none were. */
async function disturb({ chain, nodes }: Trial, random: Random): Promise<number> {
  for (const node of nodes)
    if (random.below(2) === 0) Object.assign(node.faults, drawFaults(random));
  const depth = random.below(4);
  const isReplaced = depth > 0 && random.below(2) === 0;
  const replacedFrom = chain.head().number + 1 - (isReplaced ? depth : 0);
  if (isReplaced) chain.replace(depth, usualBlocks(depth + 1));
  else chain.add(usualBlocks(1 + random.below(3)));
  await delay(1_000 + random.below(3_000));
  return replacedFrom;
}

/** One or two faults of all kinds; a node may be well. */
function drawFaults(random: Random): Partial<Faults> {
  const one = random.pick(kinds)(random);
  const other = random.pick(kinds)(random);
  return { ...noFaults(), ...one, ...other };
}

type FaultKind = (random: Random) => Partial<Faults>;

const kinds: readonly [FaultKind, ...FaultKind[]] = [
  () => ({}),
  (random) => ({ omitted: 0.05 + random.below(50) / 100 }),
  () => ({ hasNoLogs: true }),
  (random) => ({ altered: 0.05 + random.below(30) / 100 }),
  () => ({ receipts: "altered" }),
  () => ({ hasWrongHashes: true }),
  () => ({ doubled: { ranges: true, byHash: true } }),
  (random) => ({ delayMs: random.below(1_500) }),
  (random) => ({ nullBlocks: random.below(60) / 100 }),
  (random) => ({
    lag: { blocks: 1 + random.below(20), share: 0.5, of: "all", beyondHead: "empty" },
  }),
  (random) => ({ pruned: { below: 1_000_000 + random.below(200), answer: "empty" } }),
  (random) => ({
    http: { fault: random.pick(["error", "429", "502", "cut", "closed"]), share: 0.3, of: "all" },
  }),
  () => ({ socket: "quiet" }),
];

/** What is wrong with what the service says of itself now. */
async function findUntold(trial: Trial, replacedFrom: number): Promise<string[]> {
  const readiness = await trial.running().readiness();
  if (readiness?.status !== 200 || tellsIncompleteHistory(readiness.text)) return [];
  const proof = await readProof(trial.running());
  const { missing, foreign } = await trial.difference();
  // What has just come is not missing yet, and what has just been replaced not foreign.
  const settled = trial.chain.head().number - settledBlocks;
  const old = missing
    .map((line) => Number.parseInt(line, 10))
    .filter((height) => height < settled && height >= proof.from && height <= proof.to);
  const left = foreign.filter((line) => Number.parseInt(line, 10) < replacedFrom);
  if (old.length + left.length === 0) return [];
  return [`ready, and ${old.length} rows missing, ${left.length} of no block`];
}

const settledBlocks = 15;

const History = z.object({ provedFrom: z.number(), provedTo: z.number() }).nullable();
const Status = z.object({ data: z.object({ chains: z.array(z.object({ history: History })) }) });

/** The blocks of which the service says that they are proved. */
async function readProof({ baseUrl }: RunningSubject): Promise<{ from: number; to: number }> {
  const answer = await fetch(`${baseUrl}/v1/status`);
  const [chain] = Status.parse(await answer.json()).data.chains;
  const { provedFrom: from, provedTo: to } = chain?.history ?? { provedFrom: 0, provedTo: -1 };
  return { from, to };
}

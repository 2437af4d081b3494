import type { Hex } from "viem";
import { z } from "zod";
import { emptyBlocks, type ProvableChain, usualBlocks } from "../chain/provable-chain.ts";
import { holds, type Trial } from "../trial.ts";
import { patience, type Scenario, withLiveTrial } from "./scenario.ts";

const reorgs = 25;
const reorgEveryMs = 1_500;

const Page = z.object({
  data: z.array(z.object({ blockHash: z.string(), blockNumber: z.number() })),
});
type PlacedItem = z.output<typeof Page>["data"][number];

/** Pages of activity are read while blocks are replaced: none mixes two branches. */
export const readingReorgs: Scenario = {
  group: "further",
  checks: ["reading-while-it-reorgs"],
  run: (context) =>
    withLiveTrial(context, { history: usualBlocks(200), roles: ["api"] }, async (trial) => {
      const isReady = async () => (await trial.running().readiness())?.status === 200;
      if (!(await holds(patience.startSeconds, isReady))) throw new Error("it is not ready");
      const { chain } = trial;
      let made = 0;
      const timer = setInterval(() => {
        const depth = 1 + (made % 7);
        chain.replace(depth, made % 5 === 4 ? emptyBlocks(depth + 1) : usualBlocks(depth + 1));
        made += 1;
        if (made === reorgs) clearInterval(timer);
      }, reorgEveryMs);
      const answers = { read: 0, mixed: 0, refused: 0 };
      while (made < reorgs) {
        const items = await readPage(trial);
        answers.read += 1;
        if (items === null) answers.refused += 1;
        else if (!isOfOneBranch(chain, items)) answers.mixed += 1;
      }
      const after = await trial.untilClean(60);
      const { read, mixed, refused } = answers;
      context.report("reading-while-it-reorgs", {
        isRight: mixed === 0 && refused === 0 && read > 0 && after.isRight,
        seen: `${read} answers, ${mixed} of two branches, ${refused} refused, ${after.seen}`,
      });
    }),
};

async function readPage(trial: Trial): Promise<PlacedItem[] | null> {
  const { baseUrl } = trial.running();
  const answer = await fetch(`${baseUrl}/v1/activity?chainId=1&per_page=100`).catch(() => null);
  if (answer?.status !== 200) return null;
  return Page.parse(await answer.json()).data;
}

/** Whether all blocks are ancestors of the highest one. */
function isOfOneBranch(chain: ProvableChain, items: readonly PlacedItem[]): boolean {
  const [highest] = items.toSorted((one, other) => other.blockNumber - one.blockNumber);
  const lowest = Math.min(...items.map(({ blockNumber }) => blockNumber));
  const ancestors = new Set<string>();
  let block = highest && chain.blockOf(highest.blockHash as Hex);
  while (block !== undefined && block.number >= lowest) {
    ancestors.add(block.hash);
    block = chain.blockOf(block.parentHash);
  }
  return items.every(({ blockHash }) => ancestors.has(blockHash));
}

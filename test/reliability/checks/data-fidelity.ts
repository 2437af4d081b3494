import { emptyBlocks, usualBlocks } from "../chain/provable-chain.ts";
import { describeDifference } from "../subjects/compare-records.ts";
import { holds, type Outcome, type Trial, withTrial } from "../trial.ts";
import { backfillOf, patience, type Scenario } from "./scenario.ts";

const awkward: Scenario = {
  group: "data-fidelity",
  checks: ["second-event", "max-uint", "empty-blocks", "null-symbol", "nul-byte"],
  run: ({ subject, directory, report }) => {
    const history = [
      ...[...usualBlocks(60), { hasLargestToken: true }, ...usualBlocks(20)],
      ...[...emptyBlocks(500), ...usualBlocks(60)],
    ];
    return withTrial({ subject, directory, history, roles: ["jobs"] }, async (trial) => {
      trial.node.description = { name: "Reli\u0000able token 😀", symbol: null };
      report("empty-blocks", await backfillOf(trial));
      const stored = await subject.read(trial.server.url, trial.chain.chainId);
      const difference = await trial.difference();
      const seen = describeDifference(difference);
      const sales = difference.derived.filter((line) => line.includes("sale"));
      const isSecondRight = stored.counters.length > 0 && sales.length === 0;
      report("second-event", { isRight: isSecondRight && difference.missing.length === 0, seen });
      const largest = `${2n ** 256n - 1n}`;
      const hasLargest = stored.transfers.filter((line) => line.includes(largest)).length === 2;
      report("max-uint", { isRight: hasLargest && stored.owners.has(largest), seen });
      await reportDescription(trial, report);
    });
  },
};

async function reportDescription(
  trial: Trial,
  report: (check: string, outcome: Outcome) => void,
): Promise<void> {
  const read = () => trial.subject.readDescription(trial.server.url).catch(() => undefined);
  await holds(patience.seconds, async () => (await read()) !== undefined);
  const description = await read();
  const seen = JSON.stringify(description) ?? "no description";
  report("null-symbol", { isRight: description !== undefined && !description.symbol, seen });
  // Control characters are read as spaces, as a person would.
  report("nul-byte", { isRight: description?.name === "Reli able token 😀", seen });
}

const largeIndex: Scenario = {
  group: "data-fidelity",
  checks: ["huge-log-index"],
  run: ({ subject, directory, report }) =>
    withTrial({ subject, directory, history: usualBlocks(120) }, async (trial) => {
      const { chain, node } = trial;
      node.faults.largeIndexes = { fromBlock: chain.head().number - 20, offset: 0xffffffe2 };
      report("huge-log-index", await backfillOf(trial));
    }),
};

export const dataFidelity: readonly Scenario[] = [awkward, largeIndex];

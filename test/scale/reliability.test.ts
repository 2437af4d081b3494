import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { furtherHead } from "../reliability/checks/further-head.ts";
import { furtherHistory } from "../reliability/checks/further-history.ts";
import { runScenario } from "../reliability/checks/scenario.ts";
import { ours } from "../reliability/subjects/ours.ts";

/** The worst of what a review found; all others by `npm run reliability`. */
const worst = [
  ...["nulls-in-history", "hidden-range", "doubled-logs-live", "quiet-within-two-blocks"],
  "two-nodes-one-url",
];
const scenarios = [...furtherHistory, ...furtherHead].filter(({ checks }) =>
  checks.some((check) => worst.includes(check)),
);

it.each(scenarios.map((one) => [one.checks.join(", "), one] as const))(
  "%s",
  {
    timeout: 1_200_000,
  },
  async (_name, scenario) => {
    const directory = await mkdtemp(join(tmpdir(), "reliability-"));
    const verdicts = await runScenario(scenario, { subject: ours, directory });
    expect(verdicts.filter(({ isRight }) => !isRight)).toEqual([]);
    await rm(directory, { recursive: true, force: true });
  },
);

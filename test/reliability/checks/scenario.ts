import type { Subject } from "../subjects/subject.ts";
import { holds, type Outcome, type Trial, type TrialOptions, withTrial } from "../trial.ts";

/** Some checks that share one run of the subject. */
export type Scenario = {
  readonly group: string;
  /** Ids of its checks, `group / check`, as the public suite names them. */
  readonly checks: readonly string[];
  run(context: ScenarioContext): Promise<void>;
};

export type ScenarioContext = {
  readonly subject: Subject;
  readonly directory: string;
  /** What a check came to. One that fails once has failed. */
  report(check: string, outcome: Outcome): void;
};

export type Verdict = Outcome & { readonly check: string };

/** Checks that a scenario did not come to have failed with its error. */
export async function runScenario(
  { group, checks, run }: Scenario,
  given: Pick<ScenarioContext, "subject" | "directory">,
): Promise<Verdict[]> {
  const verdicts = new Map<string, Outcome>();
  const report = (check: string, outcome: Outcome) => {
    const before = verdicts.get(check);
    const isRight = outcome.isRight && before?.isRight !== false;
    verdicts.set(check, { isRight, seen: [before?.seen, outcome.seen].filter(Boolean).join("; ") });
  };
  const error = await run({ ...given, report }).then(
    () => "the scenario did not come to it",
    (reason: unknown) => (reason instanceof Error ? reason.message : `${reason}`),
  );
  return checks.map((check) => ({
    check: `${group} / ${check}`,
    ...(verdicts.get(check) ?? { isRight: false, seen: error }),
  }));
}

/**
 * Seconds within which a subject does what a check waits for, as the public suite has it, and within which it starts for
 * the first time. A busy machine needs more of both.
 */
export const patience = { seconds: 120, startSeconds: 300 };

type ScenarioTrial = Omit<TrialOptions, "subject" | "directory">;

/** Starts the subject, and runs once it follows the chain. */
export function withLiveTrial(
  { subject, directory }: ScenarioContext,
  options: ScenarioTrial,
  run: (trial: Trial) => Promise<void>,
): Promise<void> {
  return withTrial({ subject, directory, ...options }, async (trial) => {
    const begun = await backfillOf(trial);
    if (!begun.isRight) throw new Error(`did not come to follow the chain: ${begun.seen}`);
    await run(trial);
  });
}

/** Starts the subject; its backfill then has the usual time from its first rows on. */
export async function backfillOf(trial: Trial): Promise<Outcome> {
  await trial.start();
  await holds(patience.startSeconds, async () => ((await trial.progress())?.rows ?? 0) > 0);
  return trial.untilClean(patience.seconds);
}

/** Both outcomes as one. */
export const both = (one: Outcome, other: Outcome): Outcome => ({
  isRight: one.isRight && other.isRight,
  seen: `${one.seen}, ${other.seen}`,
});

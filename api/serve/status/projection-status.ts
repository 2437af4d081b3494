import type { Database } from "#projections/log/database.ts";
import { describeExcludedFacts, type ExcludedFacts, readExcludedFacts } from "#projections/engine/quarantine.ts";
import { type ProjectionProgress, readProjectionProgress } from "#projections/log/progress.ts";
import { type Follower, type Lag, trackFollower } from "./follower.ts";
import type { ExclusionWarning, FailingPart, Findings, ProjectionStatus } from "./service-status.ts";

/** A lag of this many facts counts as caught up on the first check. */
const closeEnoughPositions = 200;

/** Checks how the projections follow the log. Each of `names` must have a checkpoint. */
export function openProjectionStatus(names: readonly string[], lateSeconds: number) {
  const followers = new Map<string, Follower>();

  return async (db: Database, now: number): Promise<Findings<ProjectionStatus[]>> => {
    const progress = await readProjectionProgress(db);
    const failing: FailingPart[] = names
      .filter((name) => !progress.some(({ projection }) => projection === name))
      .map((name) => ({ part: `projection ${name}`, message: "has not begun" }));
    const followed = progress.map((one) => {
      const follower = followers.get(one.projection) ?? trackFollower(closeEnoughPositions);
      followers.set(one.projection, follower);
      return { one, lag: follower(Number(one.head), Number(one.position), now) };
    });
    for (const { one, lag } of followed) {
      // A rebuild in a shadow schema has a checkpoint too, and nothing waits for it.
      if (!names.includes(one.projection)) continue;
      if (!lag.caughtUp || lag.seconds > lateSeconds) failing.push(late(one, lag));
    }
    const excluded = await readExcludedFacts(db);
    const warnings = excluded.filter(({ projection }) => names.includes(projection)).map(warningOf);
    return { status: followed.map(({ one, lag }) => present(one, lag)), failing, warnings };
  };
}

function warningOf(one: ExcludedFacts): ExclusionWarning {
  const part = `projection ${one.projection}`;
  const message = `${describeExcludedFacts(one)}: \`npm run op -- quarantine list\` shows them`;
  return { part, kind: "facts_excluded", message, ...one };
}

function late({ projection }: ProjectionProgress, { behind, seconds, caughtUp }: Lag): FailingPart {
  const message = caughtUp ? "does not follow the log" : "is catching up";
  return {
    part: `projection ${projection}`,
    message: `${message}: ${behind} facts behind`,
    behind: { positions: behind, seconds },
  };
}

/** Late since a missing fact was seen in the log: its own time may be that of an hour long past, of a price for one. */
function present(one: ProjectionProgress, { behind, seconds }: Lag): ProjectionStatus {
  return {
    name: one.projection,
    version: one.version,
    position: Number(one.position),
    lag: behind,
    lagSeconds: seconds,
  };
}

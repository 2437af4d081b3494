import type { NewestEvent, RecordedHead } from "../../../projections/log/status.ts";
import type { Head } from "../../work/chain/head.ts";
import { trackFollower } from "./follower.ts";
import type { LateSeconds } from "./limits.ts";
import type { FailingPart } from "./service-status.ts";

/** What one look found of a chain; null is unknown. */
type Look = {
  head: Head | null;
  newest: NewestEvent | null;
  recorded: RecordedHead["recorded"];
};

type Options = {
  chainId: number;
  readHash: (number: number) => Promise<string | null | undefined>;
  lateSeconds: LateSeconds;
};

/** Blocks of events between two looks count as followed at first sight. */
const closeEnoughBlocks = 5;

/** Judges the committed log by what stands outside of it: the events that the indexer holds, and the chain's blocks. */
export function openLogJudgement({ chainId, readHash, lateSeconds }: Options) {
  const recorder = trackFollower(closeEnoughBlocks);
  let strayedAt: number | undefined;

  const judgeRecorder = ({ newest, recorded }: Look, now: number): FailingPart[] => {
    if (newest === null) return [];
    const reached = Math.min(recorded?.number ?? -1, newest.number - 1);
    const lag = recorder(newest.number, newest.isRecorded ? newest.number : reached, now);
    if (lag.caughtUp && lag.seconds <= lateSeconds.recorder) return [];
    const message = lag.caughtUp ? "does not follow the indexer" : "is catching up";
    const behind = { blocks: lag.behind, seconds: lag.seconds };
    return [{ part: `chain ${chainId} log`, message, behind }];
  };

  const judgeBranch = async ({ head, recorded }: Look, now: number): Promise<FailingPart[]> => {
    if (head === null || recorded === null || recorded.number > head.number) return [];
    const hash = await readHash(recorded.number);
    if (hash === null || hash === undefined) return [];
    if (hash === recorded.hash) strayedAt = undefined;
    else strayedAt ??= now;
    if (strayedAt === undefined) return [];
    const seconds = (now - strayedAt) / 1000;
    if (seconds <= lateSeconds.branch) return [];
    const message =
      `holds block ${recorded.number} as ${recorded.hash}, the chain has ${hash}: it was reorganised below what the ` +
      `indexer holds for final. Run \`npm run op -- recover --chain ${chainId}\``;
    return [{ part: `chain ${chainId} branch`, message, behind: { seconds } }];
  };

  return async (look: Look, now: number): Promise<FailingPart[]> => [
    ...judgeRecorder(look, now),
    ...(await judgeBranch(look, now)),
  ];
}

import type { NewestEvent, RecordedHead } from "#projections/log/progress.ts";
import type { Head } from "#jobs/chain/fetch-head.ts";
import { trackFollower } from "./follower.ts";
import type { MaxLagSeconds } from "./limits.ts";
import type { FailingPart } from "./service-status.ts";

/** One observation of a chain; null: unknown. */
type ChainSnapshot = {
  head: Head | null;
  newest: NewestEvent | null;
  recorded: RecordedHead["recorded"];
};

type Options = {
  chainId: number;
  readHash: (number: number) => Promise<string | null | undefined>;
  lateSeconds: MaxLagSeconds;
};

/** A lag of this many blocks counts as caught up on the first check. */
const closeEnoughBlocks = 5;

/** Checks the committed log against the events in Ponder's tables and the chain's own blocks. */
export function openLogCheck({ chainId, readHash, lateSeconds }: Options) {
  const recorder = trackFollower(closeEnoughBlocks);
  let divergedAt: number | undefined;

  const checkRecorder = ({ newest, recorded }: ChainSnapshot, now: number): FailingPart[] => {
    if (newest === null) return [];
    const reached = Math.min(recorded?.number ?? -1, newest.number - 1);
    const lag = recorder(newest.number, newest.isRecorded ? newest.number : reached, now);
    if (lag.caughtUp && lag.seconds <= lateSeconds.recorder) return [];
    const message = lag.caughtUp ? "does not follow the indexer" : "is catching up";
    const behind = { blocks: lag.behind, seconds: lag.seconds };
    return [{ part: `chain ${chainId} log`, message, behind }];
  };

  const checkBranch = async (
    { head, recorded }: ChainSnapshot,
    now: number,
  ): Promise<FailingPart[]> => {
    if (head === null || recorded === null || recorded.number > head.number) return [];
    const hash = await readHash(recorded.number);
    if (hash === null || hash === undefined) return [];
    if (hash === recorded.hash) divergedAt = undefined;
    else divergedAt ??= now;
    if (divergedAt === undefined) return [];
    const seconds = (now - divergedAt) / 1000;
    if (seconds <= lateSeconds.branch) return [];
    const message =
      `holds block ${recorded.number} with hash ${recorded.hash}, the chain has ${hash}: a reorg went below the block ` +
      `that the indexer considers final. Run \`npm run op -- recover --chain ${chainId}\``;
    return [{ part: `chain ${chainId} branch`, message, behind: { seconds } }];
  };

  return async (look: ChainSnapshot, now: number): Promise<FailingPart[]> => [
    ...checkRecorder(look, now),
    ...(await checkBranch(look, now)),
  ];
}

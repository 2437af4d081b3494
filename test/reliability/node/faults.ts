import { seededRandom } from "#devnet/market/random.ts";

/** How a whole HTTP answer fails. */
export type HttpFault = "error" | "429" | "502" | "cut" | "closed" | "silent";

export type RpcError = {
  readonly code: number;
  readonly message: string;
  readonly status?: number;
};

/** What a node does wrong. A driver changes it at any time; `noFaults` is a node that is well. */
export type Faults = {
  /** A share of all requests fails so. */
  http: { fault: HttpFault; share: number; of: "all" | "logs" } | null;
  /** Answers come that much later. */
  delayMs: number;
  /** Share of look-ups of blocks that are answered with null. */
  nullBlocks: number;
  /** Look-ups of a block, by its number, that are still answered with null. */
  nullsLeft: Map<number, number>;
  /** A share of requests reaches a node that is behind: 1, or every other one at 0.5. */
  lag: { blocks: number; share: number; of: "all" | "logs"; beyondHead: "empty" | "error" } | null;
  /** Of a range of `eth_getLogs`, and of its answer; each refusal has the next of the texts. */
  caps: { blocks: number; results: number; errors: readonly RpcError[] } | null;
  /** Logs and receipts below are gone; headers are served. */
  pruned: { below: number; answer: "empty" | RpcError } | null;
  /** Ranges that touch these blocks and have logs are answered with none, that many times. */
  hidden: { from: number; to: number; timesLeft: number } | null;
  /** Share of logs that are left out of answers to ranges. */
  omitted: number;
  /** Share of logs whose token is another one. */
  altered: number;
  doubled: { ranges: boolean; byHash: boolean };
  /** Logs name another block than the one that they are in. */
  hasWrongHashes: boolean;
  /** Blocks have no logs, though their filter says otherwise. */
  hasNoLogs: boolean;
  /** `misplaced`: the indexes of their logs have gaps. */
  receipts: "well" | "unknown" | "altered" | "misplaced";
  /** `quiet`: answers, and announces nothing; `dead`: says nothing at all. */
  socket: "well" | "quiet" | "dead" | "refused";
  /** Calls in a batch; 0: none at all. */
  largestBatch: number;
  form: { errorNull: boolean; textIds: boolean; reversed: boolean; noVersion: boolean };
  /** Added to the index of each log from a block on. */
  largeIndexes: { fromBlock: number; offset: number } | null;
  /** Blocks behind the head; null: the node does not know the tag. */
  finalizedDepth: number | null;
};

export function noFaults(): Faults {
  return {
    ...{ http: null, delayMs: 0, nullBlocks: 0, nullsLeft: new Map(), lag: null, caps: null },
    ...{ pruned: null, hidden: null, omitted: 0, altered: 0, hasWrongHashes: false },
    ...{ doubled: { ranges: false, byHash: false }, hasNoLogs: false, receipts: "well" },
    ...{ socket: "well", largestBatch: Number.POSITIVE_INFINITY, largeIndexes: null },
    form: { errorNull: false, textIds: false, reversed: false, noVersion: false },
    // As in the public suite: every block is said to be final at once.
    finalizedDepth: 0,
  };
}

/** Draws for faults that strike a share of requests. Half of them is every other one. */
export function openFaultDraws(seed: number): (share: number) => boolean {
  const { below } = seededRandom(seed);
  let turn = false;
  return (share) => {
    if (share <= 0) return false;
    if (share >= 1) return true;
    if (share !== 0.5) return below(10_000) < share * 10_000;
    turn = !turn;
    return turn;
  };
}

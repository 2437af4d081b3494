import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { WebSocket } from "ws";
import { shareWhileBusy } from "#jobs/runner/share-while-busy.ts";
import type { RpcBlock } from "./block-proof.ts";
import { type Node, type NodePool, resultOrThrow } from "./node-pool.ts";
import type { BlockPlace, BlockReader } from "./read-blocks.ts";

export type HeadFollower = {
  /** The newest block whose logs are there and proved; null before the first. */
  head(): RpcBlock | null;
  /** Resolves with the first head. */
  first: Promise<RpcBlock>;
  /** Calls with each head from now on. Returns what ends it. */
  listen(listener: (head: RpcBlock) => void): () => void;
  /** The canonical hash at one of the newest heights; undefined where it is not known. */
  hashAt(number: number): Hex | undefined;
};

type FollowOptions = {
  pool: NodePool;
  blocks: BlockReader;
  /** Announces new blocks; null: they are asked for. */
  wsUrl: string | null;
  signal: AbortSignal;
  /** Tells what the newest block waits for; null when it waits no longer. */
  onWaiting: (reason: string | null) => void;
};

/** Between two questions for the head: without a websocket, and with one that announces. */
const pollMs = { least: 200, most: 1_500, announced: 1_000, mostAnnounced: 4_000 };
/** How often in a row all nodes must tell of a lower head of another branch: one that lags tells of an old block of ours. */
const lowerForkReports = { known: 3, unknown: 30 };
const readForMs = 5_000;
const oldestAnnouncementMs = 3_000;

/**
 * Follows the newest block of a chain's nodes. A node that lags is no fork: its head is a block of the branch that is
 * followed. A head counts once its logs are there.
 */
export function followHeads(options: FollowOptions): HeadFollower {
  const { blocks, signal, onWaiting } = options;
  const branch = openBranch(blocks, readForMs);
  const reports = openReports(branch);
  const listeners = new Set<(head: RpcBlock) => void>();
  let head: RpcBlock | null = null;
  let onFirst = (_: RpcBlock) => {};
  const first = new Promise<RpcBlock>((resolve) => {
    onFirst = resolve;
  });
  const adopt = async (report: HeadReport): Promise<void> => {
    const block = await blocks.byHash(report, true, readForMs);
    await blocks.logsOf(block, readForMs);
    await branch.follow(block);
    reports.adopted(head, block);
    head = block;
    onFirst(block);
    for (const listener of listeners) listener(block);
  };
  const consider = async (): Promise<void> => {
    const next = reports.next(head);
    if (next === null) return;
    try {
      await adopt(next);
      onWaiting(null);
    } catch (error) {
      if (signal.aborted) return;
      onWaiting(`block ${next.number}: ${error instanceof Error ? error.message : error}`);
    }
  };
  // What is reported meanwhile is considered once, after it.
  const considerSoon = shareWhileBusy(async (reported: readonly null[]) => {
    await consider();
    return reported;
  });
  listenToNodes(options, reports, () => void considerSoon(null));
  return {
    head: () => head,
    first,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    hashAt: branch.hashAt,
  };
}

function listenToNodes(
  { pool, wsUrl, signal }: FollowOptions,
  reports: HeadReports,
  consider: () => void,
): void {
  const listen = (source: Node | "websocket") => (report: HeadReport) => {
    reports.take(source, report);
    consider();
  };
  for (const node of pool.nodes) {
    void pollHead(pool, node, { report: listen(node), everyMs: reports.pauseMs, signal });
  }
  if (wsUrl !== null) void subscribeHeads(wsUrl, signal, listen("websocket"));
}

type HeadReports = {
  take(source: Node | "websocket", report: HeadReport): void;
  /** The head that is to be followed in place of this one; null: none. */
  next(head: RpcBlock | null): HeadReport | null;
  adopted(before: RpcBlock | null, head: RpcBlock): void;
  /** Until a node is to be asked again. */
  pauseMs(): number;
};

function openReports(branch: Branch): HeadReports {
  const reports = new Map<Node | "websocket", HeadReport>();
  let forkReports = 0;
  let blockMs = pollMs.most;
  let announcedAt = Number.NEGATIVE_INFINITY;
  const isOlderThan = (leastMs: number) =>
    performance.now() - announcedAt > Math.max(2 * blockMs, leastMs);
  /** Whether a head that is not higher is of another branch, which no node contradicts. */
  const isFork = (report: HeadReport, head: RpcBlock): boolean => {
    const known = branch.hashAt(report.number);
    const isFollowed = [...reports.values()].some(({ hash }) => hash === head.hash);
    // A node that lags tells of an older block of this branch.
    if (known === report.hash || isFollowed) return false;
    forkReports += 1;
    if (report.number === Number(head.number)) return true;
    return forkReports >= lowerForkReports[known === undefined ? "unknown" : "known"];
  };
  return {
    take(source, report) {
      reports.set(source, report);
      if (source === "websocket") announcedAt = performance.now();
      // It tells of each block once: of an old one nothing is known any more.
      else if (isOlderThan(oldestAnnouncementMs)) reports.delete("websocket");
    },
    next(head) {
      const best = [...reports.values()].toSorted((a, b) => b.number - a.number)[0] ?? null;
      if (best === null || head === null) return best;
      if (best.hash === head.hash) return null;
      return best.number > Number(head.number) || isFork(best, head) ? best : null;
    },
    adopted(before, head) {
      forkReports = 0;
      const blocks = Number(head.number) - Number(before?.number ?? head.number);
      const seconds = Number(head.timestamp) - Number(before?.timestamp ?? head.timestamp);
      if (blocks > 0 && seconds > 0) blockMs = (seconds * 1_000) / blocks;
    },
    pauseMs() {
      if (forkReports > 0) return pollMs.least;
      if (!isOlderThan(pollMs.least)) {
        return Math.min(Math.max(blockMs / 4, pollMs.announced), pollMs.mostAnnounced);
      }
      return Math.min(Math.max(blockMs / 8, pollMs.least), pollMs.most);
    },
  };
}

/** The newest block, as a node or a websocket tells it. */
type HeadReport = { readonly number: number; readonly hash: Hex };

const reconnectMs = 2_000;
const mostPauseMs = 5_000;

type Polling = {
  report: (block: HeadReport) => void;
  everyMs: () => number;
  signal: AbortSignal;
};

/** Asks a node for its newest block again and again, until the signal. */
async function pollHead(
  pool: NodePool,
  node: Node,
  { report, everyMs, signal }: Polling,
): Promise<void> {
  const latest = { method: "eth_getBlockByNumber", params: ["latest", false] };
  let failures = 0;
  while (!signal.aborted) {
    try {
      report(
        await pool.askOne(node, {
          calls: [latest],
          accept: ([answer]) => reportOf(resultOrThrow(answer)),
        }),
      );
      failures = 0;
    } catch {
      failures += 1;
    }
    await delay(Math.min(everyMs() * 2 ** Math.min(failures, 4), mostPauseMs), undefined, {
      signal,
    }).catch(() => {});
  }
}

function reportOf(result: unknown): HeadReport {
  const { number, hash } = (result ?? {}) as { number?: Hex; hash?: Hex };
  if (typeof number !== "string" || typeof hash !== "string") throw new Error("no block");
  return { number: Number(number), hash };
}

/** Listens to the blocks that a websocket announces, until the signal; one that ends is opened again. */
async function subscribeHeads(
  url: string,
  signal: AbortSignal,
  report: (block: HeadReport) => void,
): Promise<void> {
  while (!signal.aborted) {
    await listenOnce(url, signal, report);
    await delay(reconnectMs, undefined, { signal }).catch(() => {});
  }
}

function listenOnce(
  url: string,
  signal: AbortSignal,
  report: (block: HeadReport) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { handshakeTimeout: 5_000 });
    const end = () => socket.terminate();
    signal.addEventListener("abort", end, { once: true });
    socket.on("error", () => {});
    socket.once("close", () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
    socket.once("open", () => {
      const method = "eth_subscribe";
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: ["newHeads"] }));
    });
    socket.on("message", (data) => {
      try {
        const message = JSON.parse(`${data}`);
        if (message.method === "eth_subscription") report(reportOf(message.params?.result));
      } catch {
        // Not an announcement: polls go on.
      }
    });
  });
}

/** The newest part of the branch that is followed, by height. */
type Branch = {
  /** Undefined where it is not known. */
  hashAt(number: number): Hex | undefined;
  /** Makes a block the branch's head, all of it at once. Throws `RpcFailure` when a block below cannot be read. */
  follow(head: RpcBlock): Promise<void>;
};

const remembered = 512;

function openBranch(blocks: BlockReader, readForMs: number): Branch {
  let hashes: ReadonlyMap<number, Hex> = new Map();
  return {
    hashAt: (number) => hashes.get(number),
    async follow(head) {
      const number = Number(head.number);
      const below = [...hashes].filter(
        ([height]) => height < number && height > number - remembered,
      );
      const next = new Map([...below, [number, head.hash]]);
      let child: RpcBlock | null = head;
      while (child !== null) {
        const isWrong = correctParent(next, child);
        const parent: BlockPlace = { number: Number(child.number) - 1, hash: child.parentHash };
        child = isWrong ? await blocks.byHash(parent, false, readForMs) : null;
      }
      hashes = next;
    },
  };
}

/** Whether another parent was known: then those below it are to be looked at, too. Without one nothing below is linked. */
function correctParent(hashes: Map<number, Hex>, { number, parentHash }: RpcBlock): boolean {
  const height = Number(number) - 1;
  const known = hashes.get(height);
  if (known === undefined) {
    for (const lower of hashes.keys()) if (lower < height) hashes.delete(lower);
  }
  if (height >= 0) hashes.set(height, parentHash);
  return known !== undefined && known !== parentHash;
}

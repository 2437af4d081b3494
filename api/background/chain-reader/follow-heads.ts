import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { WebSocket } from "ws";
import type { RpcBlock } from "./block-proof.ts";
import { type Node, type NodePool, resultOf } from "./node-pool.ts";
import type { BlockReader } from "./read-blocks.ts";

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
const pollMs = { least: 200, most: 1_500, announced: 4_000 };
const remembered = 512;
const reconnectMs = 2_000;
/** How often in a row all nodes must tell of a lower head of another branch: one that lags tells of an old block of ours. */
const lowerForkReports = 3;
const readForMs = 5_000;
const oldestAnnouncementMs = 3_000;

/** What a node last said. */
type Report = { number: number; hash: Hex };

/**
 * Follows the newest block of a chain's nodes. A node that lags is told from a fork: its head is a block of the branch
 * that is followed. A head counts once its logs are there.
 */
export function followHeads(options: FollowOptions): HeadFollower {
  const { pool, blocks, signal, onWaiting } = options;
  const reports = new Map<Node | "websocket", Report>();
  const hashes = new Map<number, Hex>();
  const listeners = new Set<(head: RpcBlock) => void>();
  let head: RpcBlock | null = null;
  let forkReports = 0;
  let blockMs = pollMs.most;
  let announcedAt = Number.NEGATIVE_INFINITY;
  let onFirst = (_: RpcBlock) => {};
  const first = new Promise<RpcBlock>((resolve) => {
    onFirst = resolve;
  });

  const adopt = async (report: Report): Promise<void> => {
    const block = await blocks.byHash(report.hash, true, readForMs);
    await blocks.logsOf(block, readForMs);
    await linkBack(block);
    if (head !== null && Number(block.number) > Number(head.number)) {
      const seconds = Number(block.timestamp) - Number(head.timestamp);
      blockMs = (seconds * 1_000) / (Number(block.number) - Number(head.number)) || blockMs;
    }
    head = block;
    forkReports = 0;
    onFirst(block);
    for (const listener of listeners) listener(block);
  };
  /** Corrects the hashes of the branch below a head, down to where they are right or not known. */
  const linkBack = async (block: RpcBlock): Promise<void> => {
    const number = Number(block.number);
    for (const height of hashes.keys()) {
      if (height > number || height <= number - remembered) hashes.delete(height);
    }
    hashes.set(number, block.hash);
    for (let child = block; Number(child.number) > 0; ) {
      const height = Number(child.number) - 1;
      const known = hashes.get(height);
      if (known === child.parentHash) return;
      hashes.set(height, child.parentHash);
      if (known === undefined) return;
      child = await blocks.byHash(child.parentHash, false, readForMs);
    }
  };
  /** Whether a head that is not higher is to be followed: it is of another branch, which no node contradicts. */
  const isFork = (best: Report, current: RpcBlock): boolean => {
    const known = hashes.get(best.number);
    // A node that lags tells of an older block of this branch.
    if (known === best.hash) return false;
    if ([...reports.values()].some(({ hash }) => hash === current.hash)) return false;
    forkReports += 1;
    if (best.number === Number(current.number)) return true;
    return forkReports >= (known === undefined ? 10 : 1) * lowerForkReports;
  };
  const consider = async (): Promise<void> => {
    const best = bestOf(reports);
    if (best === null || head?.hash === best.hash) return;
    if (head !== null && best.number <= Number(head.number) && !isFork(best, head)) return;
    try {
      await adopt(best);
      onWaiting(null);
    } catch (error) {
      if (signal.aborted) return;
      onWaiting(`block ${best.number}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const considerInTurn = openTurns(consider);
  const report = (node: Node | "websocket", block: Report) => {
    reports.set(node, block);
    // It tells of each block once: of an old one nothing is known any more.
    const isOld = performance.now() - announcedAt > Math.max(2 * blockMs, oldestAnnouncementMs);
    if (isOld) reports.delete("websocket");
    considerInTurn();
  };
  for (const node of pool.nodes) {
    void poll(
      options,
      node,
      (block) => report(node, block),
      () => {
        const isAnnounced = performance.now() - announcedAt < Math.max(2 * blockMs, pollMs.least);
        return isAnnounced
          ? pollMs.announced
          : Math.min(Math.max(blockMs / 8, pollMs.least), pollMs.most);
      },
    );
  }
  if (options.wsUrl !== null) {
    void subscribe(options.wsUrl, signal, (block) => {
      announcedAt = performance.now();
      report("websocket", block);
    });
  }
  return {
    head: () => head,
    first,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    hashAt: (number) => hashes.get(number),
  };
}

function bestOf(reports: ReadonlyMap<unknown, Report>): Report | null {
  let best: Report | null = null;
  for (const report of reports.values()) {
    if (best === null || report.number > best.number) best = report;
  }
  return best;
}

/** Runs one after the other; what is called while it runs runs once more after it. */
function openTurns(run: () => Promise<void>): () => void {
  let running = false;
  let isDue = false;
  const next = async () => {
    running = true;
    while (isDue) {
      isDue = false;
      await run();
    }
    running = false;
  };
  return () => {
    isDue = true;
    if (!running) void next();
  };
}

async function poll(
  { pool, signal }: FollowOptions,
  node: Node,
  report: (block: Report) => void,
  everyMs: () => number,
): Promise<void> {
  const latest = { method: "eth_getBlockByNumber", params: ["latest", false] };
  let failures = 0;
  while (!signal.aborted) {
    try {
      report(
        await pool.askOne(node, {
          calls: [latest],
          accept: ([answer]) => reportOf(resultOf(answer)),
        }),
      );
      failures = 0;
    } catch {
      failures += 1;
    }
    await delay(Math.min(everyMs() * 2 ** Math.min(failures, 4), 5_000), undefined, {
      signal,
    }).catch(() => {});
  }
}

function reportOf(result: unknown): Report {
  const { number, hash } = (result ?? {}) as { number?: Hex; hash?: Hex };
  if (typeof number !== "string" || typeof hash !== "string") throw new Error("no block");
  return { number: Number(number), hash };
}

async function subscribe(
  url: string,
  signal: AbortSignal,
  report: (block: Report) => void,
): Promise<void> {
  while (!signal.aborted) {
    await listenOnce(url, signal, report);
    await delay(reconnectMs, undefined, { signal }).catch(() => {});
  }
}

function listenOnce(
  url: string,
  signal: AbortSignal,
  report: (block: Report) => void,
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

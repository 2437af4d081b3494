import { LRUCache } from "lru-cache";
import { type Hex, numberToHex } from "viem";
import { RpcFailure, type RpcResponse } from "#jobs/chain/rpc.ts";
import {
  areReceiptsOf,
  bloomOf,
  isHashOfHeader,
  type LogsFilter,
  mayHoldLogs,
  type RpcBlock,
  type RpcLog,
  type RpcReceipt,
} from "./block-proof.ts";
import { type Node, type NodePool, resultOrThrow } from "./node-pool.ts";

/** A block by its hash; nodes may find it by its height alone, where that is known. */
export type BlockPlace = { readonly hash: Hex; readonly number?: number };

/** Blocks and their logs, each held against what its header commits to. */
export type BlockReader = {
  /** With whole transactions or their hashes. Throws `RpcFailure` when no node has it in time. */
  byHash(place: BlockPlace, whole: boolean, forMs?: number): Promise<RpcBlock>;
  byNumber(number: number, whole: boolean, forMs?: number): Promise<RpcBlock>;
  /** With transactions' hashes; in as few requests as the nodes take. */
  byNumbers(numbers: readonly number[]): Promise<RpcBlock[]>;
  /** Whether a block may have logs of a filter. False is certain. */
  mayHold(block: RpcBlock, filter: LogsFilter): boolean;
  /** What proves a block's logs on this chain; null: nothing, or no block was read yet. */
  evidence(): "receipts" | "blooms" | null;
  /** All logs of a block, each once: none is missing, doubled or changed. */
  logsOf(block: RpcBlock, forMs?: number): Promise<readonly RpcLog[]>;
};

/** Null until a block showed it. A proof that never held is one that the chain does not allow. */
type ProofsOfChain = {
  headers: boolean | null;
  receipts: boolean | null;
  blooms: boolean | null;
};

/**
 * The newest blocks of a range are read one by one, with proof: a node may be so far behind another one of its address,
 * and answers a range with the logs that it has. They are read for one filter after the other, so that more are kept.
 */
export const provedTail = 512;
const kept = { blocks: 600, logs: provedTail + 88, headers: 2_000, heights: 50_000 };
const recentMs = 20_000;
const answerForMs = 60_000;
const headersOfRequest = 50;
/** Failures, and no proof ever, before the chain counts as one that does not allow it. */
const unprovable = 8;

export function openBlockReader(pool: NodePool): BlockReader {
  const blocks = new LRUCache<Hex, RpcBlock>({ max: kept.blocks });
  const logs = new LRUCache<Hex, Promise<readonly RpcLog[]>>({ max: kept.logs });
  /** By height, for as long as the filters of one range are read. */
  const recent = new LRUCache<number, RpcBlock>({ max: kept.headers, ttl: recentMs });
  const proofs = openProofs();
  /** Those whose hash is that of their header: what it commits to is evidence. */
  const proved = new WeakSet<RpcBlock>();
  const mayHold = (block: RpcBlock, filter: LogsFilter) =>
    !proved.has(block) || mayHoldLogs(block.logsBloom, filter);

  const acceptBlock = (result: unknown, wanted: { hash?: Hex; number?: number }): RpcBlock => {
    const block = parseBlock(result);
    if (wanted.hash !== undefined && block.hash.toLowerCase() !== wanted.hash.toLowerCase()) {
      throw new RpcFailure(`it answers another block than ${wanted.hash}`);
    }
    if (wanted.number !== undefined && Number(block.number) !== wanted.number) {
      throw new RpcFailure(`it answers another block than ${wanted.number}`);
    }
    const isHash = isProved(() => isHashOfHeader(block));
    if (!proofs.holds("headers", isHash)) {
      throw new RpcFailure(`the hash of block ${Number(block.number)} is not that of its header`);
    }
    if (isHash) proved.add(block);
    return block;
  };
  const heights = new LRUCache<Hex, number>({ max: kept.heights });
  const isWhole = ({ transactions }: RpcBlock) => typeof transactions[0] !== "string";
  const keep = (block: RpcBlock, whole: boolean): RpcBlock => {
    if (whole || !blocks.has(block.hash)) blocks.set(block.hash, block);
    heights.set(block.hash, Number(block.number));
    return block;
  };
  return {
    async byHash({ hash, number = heights.get(hash) }, whole, forMs = answerForMs) {
      const known = blocks.get(hash);
      if (known !== undefined && (!whole || isWhole(known))) return known;
      const call = { method: "eth_getBlockByHash", params: [hash, whole] };
      const accept = ([answer]: readonly RpcResponse[]) =>
        acceptBlock(resultOrThrow(answer), { hash });
      const acceptOrAsk = async (answers: readonly RpcResponse[], node: Node) =>
        number !== undefined && resultOrThrow(answers[0]) === null
          ? pool.askOne(node, { calls: [blockCall(number, whole)], accept })
          : accept(answers);
      return keep(await pool.ask({ calls: [call], accept: acceptOrAsk, forMs }), whole);
    },
    async byNumber(number, whole, forMs = answerForMs) {
      const accept = ([answer]: readonly RpcResponse[]) =>
        acceptBlock(resultOrThrow(answer), { number });
      return keep(await pool.ask({ calls: [blockCall(number, whole)], accept, forMs }), whole);
    },
    async byNumbers(numbers) {
      const until = performance.now() + answerForMs;
      const read = new Map<number, RpcBlock>();
      for (let open = numbers; open.length > 0; open = numbers.filter((one) => !read.has(one))) {
        const known = open.flatMap((number) => recent.get(number) ?? []);
        const part = open.slice(0, headersOfRequest);
        const accept = (answers: readonly RpcResponse[]) => acceptSome(answers, part, acceptBlock);
        const forMs = Math.max(0, until - performance.now());
        const blocks =
          known.length > 0
            ? known
            : await pool.ask({
                calls: part.map((number) => blockCall(number, false)),
                accept,
                forMs,
              });
        for (const block of blocks) {
          read.set(Number(block.number), keep(block, false));
          if (known.length === 0) recent.set(Number(block.number), block);
        }
      }
      return numbers.map((number) => read.get(number) as RpcBlock);
    },
    mayHold,
    evidence() {
      if (proofs.ofChain.headers !== true) return null;
      if (proofs.ofChain.receipts === true) return "receipts";
      return proofs.ofChain.blooms === true ? "blooms" : null;
    },
    logsOf(block, forMs = answerForMs) {
      const known = logs.get(block.hash);
      if (known !== undefined) return known;
      if (proved.has(block) && block.logsBloom === emptyBloom) return Promise.resolve([]);
      const reading = readLogs(pool, proofs, block, forMs);
      logs.set(block.hash, reading);
      // Whoever asks again begins anew.
      reading.catch(() => logs.get(block.hash) === reading && logs.delete(block.hash));
      return reading;
    },
  };
}

export const blockCall = (number: number, whole: boolean) => ({
  method: "eth_getBlockByNumber",
  params: [numberToHex(number), whole],
});

/** The blocks that a node has, at least one. Throws `RpcFailure` when none can be believed. */
function acceptSome(
  answers: readonly RpcResponse[],
  numbers: readonly number[],
  acceptBlock: (result: unknown, wanted: { number?: number }) => RpcBlock,
): RpcBlock[] {
  const blocks: RpcBlock[] = [];
  let failure: unknown;
  answers.forEach((answer, nth) => {
    const number = numbers[nth];
    try {
      if (number !== undefined) blocks.push(acceptBlock(resultOrThrow(answer), { number }));
    } catch (error) {
      failure = error;
    }
  });
  if (blocks.length === 0) throw failure;
  return blocks;
}

type Proofs = {
  ofChain: ProofsOfChain;
  /** Whether an answer stands: its proof holds, or the chain is one that does not allow it. */
  holds(kind: keyof ProofsOfChain, isProved: boolean): boolean;
};

function openProofs(): Proofs {
  const ofChain: ProofsOfChain = { headers: null, receipts: null, blooms: null };
  const failures = { headers: 0, receipts: 0, blooms: 0 };
  return {
    ofChain,
    holds(kind, isProved) {
      if (isProved) ofChain[kind] = true;
      else if (ofChain[kind] === null) {
        failures[kind] += 1;
        if (failures[kind] >= unprovable) ofChain[kind] = false;
      }
      return isProved || ofChain[kind] === false;
    },
  };
}

function parseBlock(result: unknown): RpcBlock {
  const block = result as RpcBlock | null;
  if (block === null || typeof block !== "object") throw new RpcFailure("it has no such block yet");
  const { hash, number, parentHash, logsBloom, transactions } = block;
  for (const value of [hash, number, parentHash]) {
    if (typeof value !== "string") throw new RpcFailure("the block is incomplete");
  }
  return {
    ...block,
    logsBloom: typeof logsBloom === "string" ? logsBloom : emptyBloom,
    transactions: Array.isArray(transactions) ? transactions : [],
  };
}

const emptyBloom: Hex = `0x${"00".repeat(256)}`;

/**
 * From the receipts, which the header's root proves, all of them and each as it is. Where nodes give no receipts, from
 * `eth_getLogs`, whose bloom must be the header's and whose indexes must be consecutive.
 */
async function readLogs(
  pool: NodePool,
  proofs: Proofs,
  block: RpcBlock,
  forMs: number,
): Promise<readonly RpcLog[]> {
  const logs = { method: "eth_getLogs", params: [{ blockHash: block.hash }] };
  if (proofs.ofChain.receipts !== false) {
    try {
      return await readReceipts(pool, proofs, block);
    } catch (error) {
      // Not refused for good: nodes without the method answer logs.
      if (!(error instanceof RpcFailure)) throw error;
    }
  }
  return pool.ask({
    calls: [logs],
    accept: ([answer]) => placedInBlock(logsByBloom(proofs, block, resultOrThrow(answer))),
    forMs,
  });
}

/** For how long a node is not asked for what it says that it lacks: it may be another one by then. */
const withoutReceiptsMs = 3_600_000;
/** JSON-RPC 2.0, 5.1: the method does not exist. */
const methodNotFound = -32_601;

const lacksReceipts = ({ lacksReceiptsSince }: Node): boolean =>
  lacksReceiptsSince !== null && performance.now() - lacksReceiptsSince < withoutReceiptsMs;

/** A node that says that it lacks the method answered well: it is not asked again, and has no fault. */
async function readReceipts(
  pool: NodePool,
  proofs: Proofs,
  block: RpcBlock,
): Promise<readonly RpcLog[]> {
  for (;;) {
    const logs = await pool.ask({
      calls: [{ method: "eth_getBlockReceipts", params: [block.hash] }],
      without: lacksReceipts,
      accept([answer], node) {
        if (answer !== undefined && "error" in answer && answer.error.code === methodNotFound) {
          node.lacksReceiptsSince = performance.now();
          return null;
        }
        return placedInBlock(logsOfReceipts(proofs, block, resultOrThrow(answer)));
      },
      forMs: 0,
    });
    if (logs !== null) return logs;
  }
}

/** No block holds as many logs: each costs 375 gas at least, these six billion together. */
const mostLogsOfBlock = 2 ** 24;

/** Whether an index can be the place of a log in its block, which is what it means. */
export const isPlaceInBlock = ({ logIndex }: RpcLog): boolean => Number(logIndex) < mostLogsOfBlock;

/** A node that counts from elsewhere tells the order; the place of each of a block's logs follows from it. */
function placedInBlock(logs: readonly RpcLog[]): readonly RpcLog[] {
  if (logs.every(isPlaceInBlock)) return logs;
  return logs
    .toSorted((a, b) => Number(a.logIndex) - Number(b.logIndex))
    .map((log, place) => ({ ...log, logIndex: numberToHex(place) }));
}

function logsOfReceipts(proofs: Proofs, block: RpcBlock, result: unknown): readonly RpcLog[] {
  if (!Array.isArray(result)) throw new RpcFailure("it has no receipts of the block");
  const receipts = result as RpcReceipt[];
  const areProved = isProved(() => areReceiptsOf(block, receipts));
  if (!proofs.holds("receipts", areProved)) {
    throw new RpcFailure(`the receipts of block ${Number(block.number)} are not those of its root`);
  }
  if (proofs.ofChain.receipts !== true) throw new RpcFailure("its receipts cannot be proved");
  if (!isProved(() => arePlacedIn(block, receipts))) {
    throw new RpcFailure(`the logs of block ${Number(block.number)} are said to stand elsewhere`);
  }
  const logs = receipts.flatMap((receipt) => receipt.logs);
  // Once: from then on logs without receipts are held against it.
  if (proofs.ofChain.blooms !== true && bloomOf(logs) === block.logsBloom.toLowerCase()) {
    proofs.holds("blooms", true);
  }
  return logs;
}

/** The root proves what logs hold, and their order; where they stand the node says, which that order shows. */
function arePlacedIn({ hash }: RpcBlock, receipts: readonly RpcReceipt[]): boolean {
  const logs = receipts.flatMap((receipt) => receipt.logs.map((log) => ({ log, receipt })));
  const first = Number(logs[0]?.log.logIndex ?? 0);
  const isSame = (one: Hex, other: Hex) => one.toLowerCase() === other.toLowerCase();
  return logs.every(
    ({ log, receipt }, nth) =>
      Number(log.logIndex) === first + nth &&
      isSame(log.blockHash, hash) &&
      isSame(log.transactionHash, receipt.transactionHash),
  );
}

/** What a node answers may have any shape. */
function isProved(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

function logsByBloom(proofs: Proofs, block: RpcBlock, result: unknown): readonly RpcLog[] {
  if (!Array.isArray(result)) throw new RpcFailure("it answers no logs");
  const logs = withoutRepeats(result as RpcLog[]);
  const ofOther = logs.some(
    ({ blockHash }) => blockHash.toLowerCase() !== block.hash.toLowerCase(),
  );
  if (ofOther) throw new RpcFailure("the logs are of another block");
  // Some chains leave every bloom empty: it is no evidence. A header that proves it never comes here.
  if (block.logsBloom === emptyBloom) return logs;
  const indexes = logs.map(({ logIndex }) => Number(logIndex)).sort((a, b) => a - b);
  const hasGap = indexes.some((index, nth) => index !== (indexes[0] ?? 0) + nth);
  const isBloom = isProved(() => bloomOf(logs) === block.logsBloom.toLowerCase());
  if (!proofs.holds("blooms", isBloom && !hasGap)) {
    throw new RpcFailure(
      `the logs of block ${Number(block.number)} do not make the bloom of its header`,
    );
  }
  return logs;
}

/** Each log once. Throws `RpcFailure` when two differ and stand at one place. */
export function withoutRepeats(logs: readonly RpcLog[]): RpcLog[] {
  const byPlace = new Map<string, RpcLog>();
  for (const log of logs) {
    const place = `${log.blockNumber} ${log.logIndex}`;
    const other = byPlace.get(place);
    if (other === undefined) byPlace.set(place, log);
    else if (JSON.stringify(other) !== JSON.stringify(log)) {
      throw new RpcFailure(`two logs stand at one place of block ${Number(log.blockNumber)}`);
    }
  }
  return [...byPlace.values()];
}

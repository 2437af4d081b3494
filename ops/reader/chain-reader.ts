import { setTimeout as delay } from "node:timers/promises";
import { type Hex, numberToHex } from "viem";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import { isLogOf, type LogsFilter, type RpcBlock, type RpcLog } from "./block-proof.ts";
import { followHeads, type HeadFollower } from "./follow-heads.ts";
import { type NodePool, openNodePool, resultOrThrow } from "./node-pool.ts";
import { type BlockReader, openBlockReader } from "./read-blocks.ts";
import { readRange } from "./read-range.ts";

/**
 * The one place through which a chain's blocks and logs are read: every answer is held against headers and other nodes.
 */
export type ChainReader = {
  readonly chainId: number;
  readonly heads: HeadFollower;
  readonly blocks: BlockReader;
  readonly pool: NodePool;
  /** Answers a call as a node would, with the logs of a range from `logs`. Throws `RpcFailure`. */
  request(method: string, params: readonly unknown[], logs?: ChainReader["logs"]): Promise<unknown>;
  /** Logs of a filter in a range, in the chain's order, each once. Throws `RpcFailure`. */
  logs(filter: LogsFilter, range: { from: number; to: number }): Promise<RpcLog[]>;
  /** Calls that were answered, or are being answered. */
  requests(): number;
  /** What the newest block waits for, and since when; null when it waits for nothing. */
  waiting(): { reason: string; since: Date } | null;
};

export type ChainReaderOptions = {
  chainId: number;
  rpcUrls: readonly string[];
  wsUrl: string | null;
  /** The most blocks of one `eth_getLogs`; null: as many as a node answers. */
  logsBlockRange: number | null;
  signal: AbortSignal;
};

const firstWidth = 500;
const otherCallMs = 8_000;

export function openChainReader(options: ChainReaderOptions): ChainReader {
  const { chainId, rpcUrls, wsUrl, signal } = options;
  const pool = openNodePool({
    chainId,
    rpcUrls,
    signal,
    logsWidth: options.logsBlockRange ?? firstWidth,
  });
  const blocks = openBlockReader(pool);
  let waiting: { reason: string; since: Date } | null = null;
  const onWaiting = (reason: string | null) => {
    waiting = reason === null ? null : { reason, since: waiting?.since ?? new Date() };
  };
  const heads = followHeads({ pool, blocks, wsUrl, signal, onWaiting });
  const logs: ChainReader["logs"] = (filter, range) =>
    readRange({ pool, blocks, head: () => Number(heads.head()?.number ?? 0) }, filter, range);
  const reader: Answering = {
    chainId,
    heads,
    blocks,
    pool,
    logs,
    waiting: () => waiting,
  };
  let requests = 0;
  return {
    ...reader,
    requests: () => requests,
    request(method, params, readLogs = logs) {
      requests += 1;
      return answerCall({ ...reader, logs: readLogs }, method, params);
    },
  };
}

/** The first head may wait for nodes that can be believed. */
const firstHeadMs = 60_000;

/** A reader for one task, which ends with it. Throws `RpcFailure` when no node's newest block can be proved in time. */
export async function withChainReader<Result>(
  options: Omit<ChainReaderOptions, "signal">,
  run: (reader: ChainReader) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const { signal } = ending;
  const reader = openChainReader({ ...options, signal });
  try {
    const late = delay(firstHeadMs, null, { signal, ref: false });
    const head = await Promise.race([reader.heads.first, late]);
    const reason = reader.waiting()?.reason ?? "no node answers";
    if (head === null) throw new RpcFailure(`the chain's newest block is not proved: ${reason}`);
    return await run(reader);
  } finally {
    ending.abort();
  }
}

type Answering = Omit<ChainReader, "request" | "requests">;

type LogsParams = LogsFilter & { blockHash?: Hex; fromBlock?: Hex; toBlock?: Hex };

async function answerCall(
  reader: Answering,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const [first, whole] = params;
  switch (method) {
    case "eth_chainId":
      return numberToHex(reader.chainId);
    case "eth_getBlockByHash":
      return reader.blocks.byHash({ hash: first as Hex }, whole === true);
    case "eth_getBlockByNumber":
      return blockAt(reader, first as string, whole === true);
    case "eth_getLogs":
      return logsAnswer(reader, first as LogsParams);
    default:
      return reader.pool.ask({
        calls: [{ method, params }],
        accept: ([answer]) => resultOrThrow(answer),
        forMs: otherCallMs,
      });
  }
}

/** By height on the branch of the head that was announced, so that all answers are of one branch. */
async function blockAt(
  { heads, blocks, pool }: Answering,
  height: string,
  whole: boolean,
): Promise<RpcBlock | unknown> {
  if (height === "latest") {
    const head = heads.head() ?? (await heads.first);
    return whole ? head : { ...head, transactions: hashesOf(head) };
  }
  if (!height.startsWith("0x")) {
    const call = { method: "eth_getBlockByNumber", params: [height, whole] };
    return pool.ask({
      calls: [call],
      accept: ([answer]) => resultOrThrow(answer),
      forMs: otherCallMs,
    });
  }
  const number = Number(height);
  const hash = heads.hashAt(number);
  return hash === undefined
    ? blocks.byNumber(number, whole)
    : blocks.byHash({ number, hash }, whole);
}

const hashesOf = ({ transactions }: RpcBlock) =>
  transactions.map((one) => (typeof one === "string" ? one : one.hash));

async function logsAnswer(
  reader: Answering,
  { blockHash, fromBlock, toBlock, ...filter }: LogsParams,
): Promise<readonly RpcLog[]> {
  if (blockHash !== undefined) {
    const block = await reader.blocks.byHash({ hash: blockHash }, false);
    return (await reader.blocks.logsOf(block)).filter((log) => isLogOf(filter, log));
  }
  if (fromBlock === undefined || toBlock === undefined)
    throw new RpcFailure("a range has two ends");
  await reader.heads.first;
  return reader.logs(filter, { from: Number(fromBlock), to: Number(toBlock) });
}

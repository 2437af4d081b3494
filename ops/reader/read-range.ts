import { setTimeout as delay } from "node:timers/promises";
import { numberToHex } from "viem";
import { ResponseTooLarge, RpcFailure, type RpcResponse } from "#jobs/chain/rpc.ts";
import { runConcurrently } from "#projections/engine/run-concurrently.ts";
import { isLogOf, type LogsFilter, type RpcBlock, type RpcLog } from "./block-proof.ts";
import { type Node, type NodePool, resultOrThrow } from "./node-pool.ts";
import {
  type BlockReader,
  blockCall,
  isPlaceInBlock,
  provedTail,
  withoutRepeats,
} from "./read-blocks.ts";

export type BlockRange = { readonly from: number; readonly to: number };

/** Blocks without a log in a range's answer whose header is looked at. */
const sampled = 3;
const concurrentBlocks = 8;
const answerForMs = 60_000;
const mostWidth = 10_000;
const pauseMs = 250;

type RangeReader = {
  pool: NodePool;
  blocks: BlockReader;
  /** The newest block. */
  head: () => number;
};

/** The logs of a filter in a range of blocks, in the chain's order, each once. Throws `RpcFailure`. */
export async function readRange(
  reader: RangeReader,
  filter: LogsFilter,
  { from, to }: BlockRange,
): Promise<RpcLog[]> {
  const tail = Math.max(from, reader.head() - provedTail + 1);
  const settled = { from, to: Math.min(to, tail - 1) };
  const newest = { from: Math.max(from, tail), to };
  const logs = [
    ...(settled.from > settled.to ? [] : await readSettled(reader, filter, settled)),
    ...(newest.from > newest.to ? [] : await readByBlocks(reader, filter, newest)),
  ];
  return inChainOrder(logs);
}

/** Blocks whose bloom excludes the filter hold none of its logs; of the others all logs are read. */
async function readByBlocks(
  { blocks }: RangeReader,
  filter: LogsFilter,
  { from, to }: BlockRange,
): Promise<RpcLog[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, nth) => from + nth);
  const headers = await blocks.byNumbers(numbers);
  const found: RpcLog[] = [];
  const open = headers.filter((block) => blocks.mayHold(block, filter));
  const read = async (block: RpcBlock) => {
    found.push(...(await blocks.logsOf(block)).filter((log) => isLogOf(filter, log)));
  };
  await runConcurrently(open, read, undefined, concurrentBlocks);
  return found;
}

/** By `eth_getLogs` of as many blocks as a node answers; a block of too many logs by its receipts. */
async function readSettled(
  reader: RangeReader,
  filter: LogsFilter,
  range: BlockRange,
): Promise<RpcLog[]> {
  const logs: RpcLog[] = [];
  for (let from = range.from; from <= range.to; ) {
    const part = await readPart(reader, filter, { from, to: range.to });
    logs.push(...part.logs);
    from = part.to + 1;
  }
  return logs;
}

type Part = { logs: RpcLog[]; to: number };

async function readPart(reader: RangeReader, filter: LogsFilter, range: BlockRange): Promise<Part> {
  const until = performance.now() + answerForMs;
  for (;;) {
    await proveHistory(reader, range.from);
    const nodes = reader.pool.nodes.filter((node) => !lacksLogs(reader.pool, node, range.from));
    const part = await readFromAny(reader, nodes, filter, range);
    if ("logs" in part) return part;
    // A block of more logs than nodes answer at once, or one of which they have receipts alone.
    if (nodes.every((node) => node.logsWidth < 1)) {
      for (const node of nodes) node.logsWidth = 1;
      const block = { from: range.from, to: range.from };
      return { logs: await readByBlocks(reader, filter, block), to: range.from };
    }
    if (performance.now() > until) {
      const reasons = part.failures.slice(0, 5).join("; ");
      throw new RpcFailure(`no node answers the logs from block ${range.from} on: ${reasons}`);
    }
    await delay(pauseMs);
  }
}

async function readFromAny(
  reader: RangeReader,
  nodes: readonly Node[],
  filter: LogsFilter,
  range: BlockRange,
): Promise<Part | { failures: string[] }> {
  const failures: string[] = [];
  for (const node of nodes) {
    try {
      return await readFrom(reader, node, filter, range);
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      failures.push(error.message);
    }
  }
  return { failures };
}

/** From one node. Throws `RpcFailure`, and asks for fewer blocks the next time where the node refused. */
async function readFrom(
  reader: RangeReader,
  node: Node,
  filter: LogsFilter,
  { from, to }: BlockRange,
): Promise<Part> {
  const end = Math.min(to, from + Math.max(1, node.logsWidth) - 1);
  try {
    const logs = await reader.pool.askOne(node, {
      calls: [logsCall(filter, { from, to: end }), blockCall(end, false)],
      accept: async ([logsAnswer, headerAnswer]) => {
        if (logsAnswer !== undefined && "error" in logsAnswer) {
          throw new LogsRefused(logsAnswer.error.message);
        }
        if (resultOrThrow(headerAnswer) === null)
          throw new RpcFailure(`it has no block ${end} yet`);
        const logs = acceptLogs(resultOrThrow(logsAnswer), filter, { from, to: end });
        // Where a log stands in its block only all of the block's logs show.
        if (!logs.every(isPlaceInBlock)) throw new LogsRefused("its log indexes are no places");
        await checkSamples(reader, filter, { from, to: end }, logs);
        return logs;
      },
    });
    node.provedFrom = Math.min(node.provedFrom, from);
    node.logsWidth = Math.min(Math.ceil(Math.max(1, node.logsWidth) * 1.2), mostWidth);
    return { logs, to: end };
  } catch (error) {
    if (isRefusal(error)) node.logsWidth = Math.floor((end - from + 1) / 2);
    throw error;
  }
}

/** A range that the node does not answer in a usable way. Whatever its words: it may be the number of blocks or of logs. */
class LogsRefused extends RpcFailure {}

function isRefusal(error: unknown): boolean {
  const cause = error instanceof RpcFailure ? error.cause : undefined;
  if (cause instanceof LogsRefused || cause instanceof ResponseTooLarge) return true;
  return (
    cause instanceof Error && (cause.name === "TimeoutError" || /^HTTP 4\d\d/.test(cause.message))
  );
}

function logsCall({ address, topics }: LogsFilter, { from, to }: BlockRange) {
  const filter = { ...(address === undefined ? {} : { address }), ...(topics ? { topics } : {}) };
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
  return { method: "eth_getLogs", params: [{ ...filter, ...range }] };
}

function acceptLogs(result: unknown, filter: LogsFilter, { from, to }: BlockRange): RpcLog[] {
  if (!Array.isArray(result)) throw new RpcFailure("it answers no logs");
  // Some nodes take a topic of any value for none.
  const { length: topics } = filter.topics ?? [];
  const logs = withoutRepeats(
    (result as RpcLog[]).filter((log) => log.removed !== true && log.topics.length >= topics),
  );
  for (const log of logs) {
    const number = Number(log.blockNumber);
    if (number < from || number > to || !isLogOf(filter, log)) {
      throw new RpcFailure("it answers logs that were not asked for");
    }
  }
  return logs;
}

/** Of some blocks without a log in the answer, what the header says. Throws `RpcFailure` when the answer lacks logs. */
async function checkSamples(
  { blocks }: RangeReader,
  filter: LogsFilter,
  { from, to }: BlockRange,
  logs: readonly RpcLog[],
): Promise<void> {
  const holding = new Set(logs.map(({ blockNumber }) => Number(blockNumber)));
  const empty = Array.from({ length: to - from + 1 }, (_, nth) => from + nth).filter(
    (number) => !holding.has(number),
  );
  const chosen = new Set(
    Array.from(
      { length: Math.min(sampled, empty.length) },
      () => empty[Math.floor(Math.random() * empty.length)] as number,
    ),
  );
  for (const block of await blocks.byNumbers([...chosen])) await expectNone(blocks, filter, block);
}

async function expectNone(blocks: BlockReader, filter: LogsFilter, block: RpcBlock): Promise<void> {
  if (!blocks.mayHold(block, filter)) return;
  const logs = await blocks.logsOf(block);
  if (logs.some((log) => isLogOf(filter, log))) {
    throw new RpcFailure(`it leaves out the logs of block ${Number(block.number)}`);
  }
}

/** Blocks in a row that are looked through for one with logs. */
const searched = 64;
/** A node that lacked old logs is asked for them again after this time; sooner where no other one has them. */
const lackingMs = { beside: 60_000, alone: 5_000 };

/** Whether a node was seen to lack the logs of a block a short while ago. */
function lacksLogs({ nodes }: NodePool, node: Node, from: number): boolean {
  const hasOther = nodes.some(
    ({ provedFrom, lacksUpTo }) => provedFrom <= from && lacksUpTo < from,
  );
  const restMs = hasOther ? lackingMs.beside : lackingMs.alone;
  return node.lacksUpTo >= from && performance.now() - node.lacksSince < restMs;
}

/**
 * Whether each node has the logs of old blocks: it is asked for those of the first block whose header promises some. A
 * node without old history answers none.
 */
async function proveHistory({ pool, blocks }: RangeReader, from: number): Promise<void> {
  const open = pool.nodes.filter((node) => node.provedFrom > from && !lacksLogs(pool, node, from));
  if (open.length === 0) return;
  const block = await findBlockWithLogs(blocks, from).catch(() => undefined);
  await Promise.all(open.map((node) => proveNode(pool, node, block, from)));
}

async function findBlockWithLogs(blocks: BlockReader, from: number): Promise<RpcBlock | undefined> {
  const numbers = Array.from({ length: searched }, (_, nth) => from + nth);
  const headers = await blocks.byNumbers(numbers);
  return headers.find(({ logsBloom }) => BigInt(logsBloom) !== 0n);
}

async function proveNode(
  pool: NodePool,
  node: Node,
  block: RpcBlock | undefined,
  from: number,
): Promise<void> {
  // Nothing near to prove it by, or it refuses and will say why again: the samples of its answers tell.
  let hasLogs = true;
  if (block !== undefined) {
    const number = Number(block.number);
    const calls = [logsCall({}, { from: number, to: number })];
    const accept = ([answer]: readonly RpcResponse[]) => resultOrThrow(answer);
    const logs = await pool.askOne(node, { calls, accept }).catch(() => undefined);
    hasLogs = !Array.isArray(logs) || logs.length > 0;
  }
  if (hasLogs) {
    node.provedFrom = Math.min(node.provedFrom, from);
    return;
  }
  node.lacksUpTo = Math.max(node.lacksUpTo, Number(block?.number));
  node.lacksSince = performance.now();
  node.fault = `it has no logs of block ${Number(block?.number)}, whose header promises some`;
}

export function inChainOrder(logs: readonly RpcLog[]): RpcLog[] {
  return logs.toSorted(
    (a, b) =>
      Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex),
  );
}

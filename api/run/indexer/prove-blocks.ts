import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { runConcurrently } from "#projections/engine/run-concurrently.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ChainLog } from "#jobs/chain/fetch-logs.ts";
import { RpcFailure } from "#jobs/chain/rpc.ts";
import type { RpcBlock } from "#api/background/chain-reader/block-proof.ts";
import type { ChainReader } from "#api/background/chain-reader/chain-reader.ts";
import type { BlockRange } from "#api/background/chain-reader/read-range.ts";
import { chainLogOf, eventsOf } from "./chain-events.ts";
import { type ChainTruth, compareRange } from "./compare-range.ts";
import type { SourceFilter } from "./source-filters.ts";

export type BlocksWork = {
  db: Database;
  reader: Pick<ChainReader, "blocks">;
  client: ChainClient;
  filters: readonly SourceFilter[];
};

/** Blocks in a row, each the parent of the next, and all of their logs that the indexed sources may have. */
export type ProvedBlocks = {
  readonly range: BlockRange;
  /** Of the lowest block, and of the highest. */
  readonly parentHash: Hex;
  readonly headHash: Hex;
  readonly blocks: readonly RpcBlock[];
  readonly logs: readonly ChainLog[];
};

/** Where the log differed from the chain, and where it still does. */
export type Mended = { found: number; left: number };

/** Blocks whose logs are read at a time. */
const concurrentBlocks = 4;

/** Reads the blocks of a range with their proofs. Throws `RpcFailure` when no node's answers can be proved. */
export async function readProvedBlocks(
  work: Pick<BlocksWork, "reader" | "filters">,
  range: BlockRange,
): Promise<ProvedBlocks> {
  const blocks = await readChain(work.reader, range);
  const [lowest, highest] = [blocks[0], blocks.at(-1)];
  if (lowest === undefined || highest === undefined) throw new Error("a range has blocks");
  return {
    range,
    parentHash: lowest.parentHash.toLowerCase() as Hex,
    headHash: highest.hash.toLowerCase() as Hex,
    blocks,
    logs: await readLogs(work, blocks),
  };
}

/** Headers of a range, each the parent of the next one. */
export async function readChain(
  reader: BlocksWork["reader"],
  { from, to }: BlockRange,
): Promise<RpcBlock[]> {
  const blocks = await reader.blocks.byNumbers(
    Array.from({ length: to - from + 1 }, (_, nth) => from + nth),
  );
  expectChain(blocks);
  return blocks;
}

/**
 * Holds the log against proved blocks, and appends what it lacks. `mayRetract`: they are known to be the chain's; else a
 * difference over which block is the chain's is left.
 */
export async function mendBlocks(
  { db, client, filters, reader }: BlocksWork,
  { range, blocks, logs }: ProvedBlocks,
  { mayRetract }: { mayRetract: boolean },
): Promise<Mended> {
  const events = filters.flatMap((filter) => eventsOf(filter, logs.filter(selectorOf(filter))));
  const truth = truthOf(reader, blocks);
  const comparison = { db, client, blocks: reader.blocks, truth, range, events };
  const { differences, left } = await compareRange({
    ...comparison,
    mends: ({ kind }) => mayRetract || kind === "missing",
  });
  return { found: differences.length, left };
}

function expectChain(blocks: readonly RpcBlock[]): void {
  blocks.forEach((block, nth) => {
    const parent = blocks[nth - 1];
    if (parent === undefined || parent.hash.toLowerCase() === block.parentHash.toLowerCase())
      return;
    throw new RpcFailure(`block ${Number(parent.number)} is not the parent of the next one`);
  });
}

/** All logs of the blocks that may hold an event. */
async function readLogs(
  { filters, reader }: Pick<BlocksWork, "reader" | "filters">,
  blocks: readonly RpcBlock[],
): Promise<ChainLog[]> {
  const open = blocks.filter((block) =>
    filters.some(({ addresses, topics }) =>
      reader.blocks.mayHold(block, { address: addresses ?? undefined, topics }),
    ),
  );
  const logs: ChainLog[] = [];
  const read = async (block: RpcBlock) => {
    logs.push(...(await reader.blocks.logsOf(block)).map(chainLogOf));
  };
  await runConcurrently(open, read, undefined, concurrentBlocks);
  return logs;
}

/** As a node selects by a filter: of each topic that it names, the log has that value; of null any. */
function selectorOf({ addresses, topics, source }: SourceFilter): (log: ChainLog) => boolean {
  const contracts = addresses && new Set(addresses.map((address) => address.toLowerCase()));
  const values = topics.map((topic) => topic?.toLowerCase());
  return (log) =>
    log.blockNumber >= source.firstBlock &&
    (contracts === null || contracts.has(log.address)) &&
    log.topics.length >= values.length &&
    values.every((value, nth) => value === undefined || value === log.topics[nth]);
}

function truthOf({ blocks: read }: BlocksWork["reader"], blocks: readonly RpcBlock[]): ChainTruth {
  const byNumber = new Map(blocks.map((block) => [Number(block.number), block]));
  return {
    hashesAt: async (numbers) =>
      new Map(numbers.map((number) => [number, byNumber.get(number)?.hash ?? null])),
    async logIndexesOf({ number }) {
      const block = byNumber.get(number);
      if (block === undefined) return [];
      return (await read.logsOf(block)).map(({ logIndex }) => Number(logIndex));
    },
  };
}

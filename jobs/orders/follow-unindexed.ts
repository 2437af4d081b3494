import { readLogHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainReadings } from "#projections/log/readings.ts";
import { appendChangedReadings, appendReadings } from "#projections/orders/changed-readings.ts";
import { type ChainQuery, isReading, queryKey } from "../chain/chain-query.ts";
import { type BlockHeader, type ChainClient, fetchCanonicalHashes } from "../chain/client.ts";
import { BasisReorged, type ReadBasis } from "../chain/contract-calls.ts";
import { fetchLogsAfter } from "../chain/fetch-logs.ts";
import { runBatch } from "../chain/query-chain.ts";
import type { Job } from "../runner/job.ts";
import type { HeadWatch } from "./head-watch.ts";
import type { FollowedSource } from "./unindexed-sources.ts";

/** Blocks of one request when behind; adapted to what the node accepts. */
const width = { first: 32, most: 512 };
/** Beyond this many blocks it costs less to read everything again. */
const maxBehind = 2_048n;

/** Until the next try when a block left the chain during a read, or a node does not have it yet. */
const reorgMs = 100;

type FollowOptions = {
  db: Database;
  client: ChainClient;
  source: FollowedSource;
  head: HeadWatch;
};

type FollowState = {
  blocks: FollowedBlocks;
  /** Position of the log up to which new orders were read. */
  seen: bigint;
  /** The next page of all open orders, which are read at the start; null: none is left. */
  page: { after: string | null } | null;
  width: number;
  /** What followed blocks touched, until the head is reached and it is read there. */
  touched: ChainQuery[];
  /** The same of blocks that left the chain. */
  undone: ChainQuery[];
};

/**
 * Follows a source that is not indexed, block by block: one request for the logs that touch open orders, and if there
 * are any, another for the state at the head, of which changes are appended as readings. A new process first reads what
 * all open orders depend on.
 */
export function unindexedEvents(options: FollowOptions): Job {
  const { db, client, source, head } = options;
  const wait = head.openWait();
  let state: FollowState | undefined;
  return {
    name: "unindexed events",
    about: { chainId: client.chainId, source: source.name },
    wakesOn: { wait: (atMostMs) => wait({ atMostMs }) },
    reads: ["listings", "bids"],
    async run() {
      state ??= newState(await readLogHead(db));
      try {
        return (await runPass(options, state)) ? undefined : "more";
      } catch (error) {
        if (error instanceof BasisReorged) return reorgMs;
        throw error;
      }
    },
  };
}

const newState = (seen: bigint): FollowState => ({
  blocks: createFollowedBlocks(),
  seen,
  page: { after: null },
  width: width.first,
  touched: [],
  undone: [],
});

/** Returns whether everything up to the head has been read. */
async function runPass(options: FollowOptions, state: FollowState): Promise<boolean> {
  const basis = await options.head.latest();
  const last = state.blocks.last();
  if (last === undefined) state.blocks.add({ ...basis, touched: [] });
  else if (last.hash !== basis.hash) {
    if (basis.number - last.number > maxBehind) return restart(state);
    const isAtHead = await followBlocks(options, state, basis);
    if (!isAtHead) return false;
  } else if (state.touched.length > 0) {
    // What was not answered before; no further block may come.
    state.blocks.touch(await readTouched(options, state, basis));
  }
  state.undone = await appendState(options, basis, state.undone, true);
  await readNextPage(options, state, basis);
  return state.page === null;
}

function restart(state: FollowState): false {
  state.blocks.clear();
  state.page = { after: null };
  return false;
}

/** Follows one range of blocks. Returns whether it reached the head. */
async function followBlocks(
  options: FollowOptions,
  state: FollowState,
  basis: ReadBasis,
): Promise<boolean> {
  const { client, source } = options;
  const { blocks } = state;
  const last = blocks.last();
  if (last === undefined) return false;
  const upTo = last.number + BigInt(state.width);
  const to = upTo < basis.number ? upTo : basis.number;
  const found =
    to <= last.number
      ? "reorged"
      : await fetchLogsAfter(client, await source.readFilters(), last, to);
  if (found === null) {
    state.width = Math.max(1, Math.floor(state.width / 2));
    return false;
  }
  if (found === "reorged") {
    state.undone.push(...(await blocks.dropReorged(client)));
    if (blocks.last() === undefined) restart(state);
    // A node behind the one that was asked before has the older block: its next one is awaited.
    return blocks.last() === last;
  }
  const { logs, header } = found;
  state.touched.push(...(await source.readTouched(logs)));
  state.width = Math.min(state.width * 2, width.most);
  const isAtHead = header.hash === basis.hash;
  const touched = isAtHead ? await readTouched(options, state, basis) : [];
  blocks.add({ number: header.number, hash: header.hash, touched });
  return isAtHead;
}

/** Reads what the blocks up to the head touched, and what new orders depend on. */
async function readTouched(
  options: FollowOptions,
  state: FollowState,
  basis: ReadBasis,
): Promise<readonly ChainQuery[]> {
  const upTo = await readLogHead(options.db);
  const added = await options.source.readAdded({ after: state.seen, upTo });
  const touched = [...state.touched, ...added];
  state.touched = await appendState(options, basis, touched);
  state.seen = upTo;
  return [...touched, ...state.undone];
}

async function readNextPage(
  options: FollowOptions,
  state: FollowState,
  basis: ReadBasis,
): Promise<void> {
  if (state.page === null) return;
  const { queries, after } = await options.source.readPage(state.page.after);
  state.touched.push(...(await appendState(options, basis, queries)));
  state.blocks.touch(queries);
  state.page = after === null ? null : { after };
}

type Reading = { db: Database; client: ChainClient };

/**
 * Fetches state at a block and appends it: what differs from the log, or with `isUndone` all of it, which a reorg undid.
 * Returns the queries without a result, such as of a contract that is not called for a while: to be read again. Throws
 * `RpcFailure`.
 */
async function appendState(
  { db, client }: Reading,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
  isUndone = false,
): Promise<ChainQuery[]> {
  if (queries.length === 0) return [];
  const { state, missing } = await fetchState(client, basis, queries);
  if (isUndone) await appendReadings(db, state, new Date());
  else await appendChangedReadings(db, [state], new Date());
  return missing;
}

async function fetchState(
  client: ChainClient,
  basis: ReadBasis,
  queries: readonly ChainQuery[],
): Promise<{ state: ChainReadings; missing: ChainQuery[] }> {
  const { chainId } = client;
  const batch = await runBatch(client, queries, { basis: Promise.resolve(basis) });
  const readings = [...batch.results.values()].filter(isReading);
  const distinct = new Map(queries.map((query) => [queryKey(query), query]));
  const missing = [...distinct].flatMap(([key, query]) => {
    const result = batch.results.get(key);
    return result !== undefined && isReading(result) ? [] : [query];
  });
  return { state: { chainId, basis: batch.basis, readings }, missing };
}

/** The last block of a followed range, and what the range touched, or was read at it for another reason. */
type FollowedBlock = Pick<BlockHeader, "number" | "hash"> & { touched: readonly ChainQuery[] };

/** Memory of the newest followed blocks, to find what a reorg undid. */
type FollowedBlocks = {
  last(): FollowedBlock | undefined;
  add(block: FollowedBlock): void;
  /** State was read at the last block. */
  touch(queries: readonly ChainQuery[]): void;
  /** Forgets the blocks that left the chain; what they touched. A node without a block decides nothing. */
  dropReorged(client: ChainClient): Promise<ChainQuery[]>;
  clear(): void;
};

/** More than a reorg reverts that Ponder follows; a deeper one has everything read again. */
const remembered = 256;

function createFollowedBlocks(): FollowedBlocks {
  const blocks: FollowedBlock[] = [];
  return {
    last: () => blocks.at(-1),
    add(block) {
      blocks.push(block);
      if (blocks.length > remembered) blocks.shift();
    },
    touch(queries) {
      const last = blocks.pop();
      if (last === undefined) return;
      const touched = new Map([...last.touched, ...queries].map((one) => [queryKey(one), one]));
      blocks.push({ ...last, touched: [...touched.values()] });
    },
    async dropReorged(client) {
      // The newest alone first: a node that lags behind another does not have it.
      for (const some of [blocks.slice(-1), blocks]) {
        const numbers = some.map(({ number }) => number);
        const hashes = await fetchCanonicalHashes(client, numbers);
        const reorged = some.find(({ number, hash }) => (hashes.get(number) ?? hash) !== hash);
        if (reorged === undefined) return [];
        if (some === blocks) {
          return blocks.splice(blocks.indexOf(reorged)).flatMap(({ touched }) => touched);
        }
      }
      return [];
    },
    clear() {
      blocks.length = 0;
    },
  };
}

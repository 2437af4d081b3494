import { sql } from "kysely";
import { type ChainClient, fetchCanonicalHashes, openChainClient } from "#jobs/chain/client.ts";
import { fetchReadBasis } from "#jobs/chain/contract-calls.ts";
import { appendBlockStates, blockIdRange, firstBlockId, logHead } from "#projections/log/blocks.ts";
import type { Database, Session } from "#projections/log/database.ts";
import { blockNumberIn } from "#projections/log/recording/ponder-events.ts";
import { readPonderSchema } from "#projections/log/recording/reconcile.ts";
import type { Indexer } from "./indexers.ts";
import type { IndexingContext } from "./ponder-process.ts";
import {
  lockSchema,
  readGeneration,
  type SchemaLock,
  schemaName,
  startGeneration,
} from "./ponder-schema.ts";

type Recovery = {
  /** First height of the abandoned branch. */
  fork: number;
  /** Blocks of the log that were retracted. */
  retracted: number;
  /** The schemas that the chain is indexed into from now on. */
  schemas: string[];
};

type RecoveryContext = Pick<
  IndexingContext,
  "chain" | "databaseUrl" | "db" | "logger" | "signal"
> & {
  /** All of the chain, also those that were removed. */
  indexers: readonly Indexer[];
};

/**
 * Recovers from a reorg below the block that Ponder took for final: retracts the abandoned branch in the log, deletes it
 * from Ponder's cache, and has the chain indexed into new schemas, from the cache below the fork and from the chain
 * above it. Running indexers switch to these. Interrupted at any point, it may be run again.
 * Null when the log and the cache hold only blocks of the chain.
 */
export async function recoverChain(context: RecoveryContext): Promise<Recovery | null> {
  const { chain, db, indexers } = context;
  const { chainId } = chain;
  const client = openChainClient(chain);
  const head = await fetchReadBasis(client);
  if (!(await hasPonderStore(db))) return null;
  const fork = await findFork(db, client, head.number);
  if (fork === null) return null;

  const moves = await Promise.all(indexers.map((indexer) => planMove(db, chainId, indexer)));
  // Held until the cache is clean: no indexer must start on a new schema earlier.
  const newLocks = await lockAll(
    context,
    moves.map(({ schema }) => schema),
  );
  try {
    for (const { indexer, schema, generation } of moves) {
      await startGeneration(db, { chainId, indexer }, { schema, generation });
    }
    // Waits until processes that index under this configuration, or the one before it, have stopped.
    const oldSchemas = [...new Set(moves.flatMap(({ old }) => old))];
    const oldLocks = await lockAll(context, oldSchemas);
    try {
      const orphans = await findOrphans(db, client, fork);
      const retracted = await db.transaction().execute(async (session) => {
        await purgePonderStore(session, chainId, fork);
        await resetSettledHeights(session, chainId, fork);
        return await appendBlockStates(session, "block_retracted", orphans, new Date());
      });
      for (const old of oldSchemas) {
        await sql`drop schema if exists ${sql.id(old)} cascade`.execute(db);
      }
      return { fork: Number(fork), retracted, schemas: moves.map(({ schema }) => schema) };
    } finally {
      await releaseAll(oldLocks);
    }
  } finally {
    await releaseAll(newLocks);
  }
}

/** The schema that an indexer moves to, and those that it may have used before. */
async function planMove(db: Database, chainId: number, { name: indexer, sources }: Indexer) {
  const id = { chainId, indexer };
  const generation = await readGeneration(db, id);
  const active = (await readPonderSchema(db, id))?.schema ?? null;
  return {
    indexer,
    generation: generation + 1,
    schema: schemaName(sources, generation + 1),
    old: [schemaName(sources, generation), ...(active === null ? [] : [active])],
  };
}

async function lockAll(
  { databaseUrl, signal, logger }: RecoveryContext,
  schemas: readonly string[],
): Promise<SchemaLock[]> {
  const locks: SchemaLock[] = [];
  try {
    for (const schema of schemas) locks.push(await lockSchema(databaseUrl, schema, signal, logger));
    return locks;
  } catch (error) {
    await releaseAll(locks);
    throw error;
  }
}

async function releaseAll(locks: readonly SchemaLock[]): Promise<void> {
  await Promise.all(locks.map((lock) => lock.release()));
}

/** Ponder creates its cache at its first start. */
async function hasPonderStore(db: Database): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('ponder_sync.blocks') is not null as exists`.execute(db);
  return rows[0]?.exists ?? false;
}

/** Blocks from the fork on that count in the log and are not the chain's. */
async function findOrphans(
  db: Database,
  client: ReturnType<typeof openChainClient>,
  fork: bigint,
): Promise<bigint[]> {
  const { chainId } = client;
  const { rows } = await sql<{ blockId: bigint; number: bigint; hash: string }>`
    select b.block_id as "blockId", b.number, b.hash from log.block b
    where b.block_id >= ${firstBlockId(chainId, fork)} and b.block_id < ${blockIdRange(chainId).to}
      and not exists (
        select from log.retracted_blocks(${logHead}) d where d.block_id = b.block_id)
  `.execute(db);
  const hashes = await fetchCanonicalHashes(client, [...new Set(rows.map(({ number }) => number))]);
  return rows
    .filter(({ number, hash }) => hashes.get(number) !== hash)
    .map(({ blockId }) => blockId);
}

const storeTables = {
  blocks: "number",
  transactions: "block_number",
  transaction_receipts: "block_number",
  logs: "block_number",
  traces: "block_number",
  rpc_request_results: "block_number",
};

/** Makes Ponder fetch all heights from the fork on again. */
async function purgePonderStore(session: Session, chainId: number, fork: bigint): Promise<void> {
  for (const [table, height] of Object.entries(storeTables)) {
    await sql`
      delete from ${sql.id("ponder_sync", table)}
      where chain_id = ${chainId} and ${sql.id(height)} >= ${fork}`.execute(session);
  }
  // Ponder's ranges end, inclusive, one past the last block, and it reads them by their brackets.
  await sql`
    update ponder_sync.intervals
    set blocks = coalesce(
      (select range_agg(part) from unnest(blocks - nummultirange(numrange(${fork}, null, '()'))) part
       where lower(part) < upper(part)), '{}')
    where chain_id = ${chainId}`.execute(session);
}

/** What the recorder and the review of observations held for final is so up to the fork only. */
async function resetSettledHeights(session: Session, chainId: number, fork: bigint): Promise<void> {
  await sql`
    delete from ops.recorder
    where chain_id = ${chainId} and ${blockNumberIn("settled_id")} >= ${fork}`.execute(session);
  await sql`
    update ops.observation_check set settled_number = least(settled_number, ${fork - 1n})
    where chain_id = ${chainId}`.execute(session);
}

type StoredBlock = { number: bigint; hash: string };

/** Blocks compared at once: the highest ones, and those directly below a fork to confirm it. */
const batchSize = 200;

/**
 * The lowest height at which an effective block of the log, or a block in Ponder's cache, differs from the chain; null
 * when there is none up to the chain's head. Searches back in doubling strides, then bisects the last one.
 */
export async function findFork(
  db: Database,
  client: ChainClient,
  head: bigint,
): Promise<bigint | null> {
  let below = head + 1n;
  let fork: bigint | null = null;
  for (;;) {
    const highest = await readBlocks(db, client.chainId, { from: 0n, below, most: batchSize });
    const wrong = await findLowestMismatch(client, highest);
    if (wrong === null) return fork;
    fork = await bisect(db, client, wrong);
    below = fork;
  }
}

/** The lowest of these heights at which the chain has another block. */
async function findLowestMismatch(
  client: ChainClient,
  blocks: readonly StoredBlock[],
): Promise<bigint | null> {
  const numbers = [...new Set(blocks.map(({ number }) => number))];
  const hashes = await fetchCanonicalHashes(client, numbers);
  const wrong = blocks.filter(({ number, hash }) => (hashes.get(number) ?? hash) !== hash);
  return wrong.map(({ number }) => number).sort((a, b) => (a < b ? -1 : 1))[0] ?? null;
}

/** Narrows the heights below a wrong block until no stored block is left between the wrong and the right one. */
async function bisect(db: Database, client: ChainClient, wrong: bigint): Promise<bigint> {
  let bad = wrong;
  let good = -1n;
  let stride = 1n;
  for (;;) {
    const target = good < 0n ? bad - stride : (good + bad) / 2n;
    stride *= 2n;
    const block = await readNear(db, client.chainId, { from: good + 1n, below: bad, target });
    if (block === undefined) return bad;
    if ((await findLowestMismatch(client, [block])) === null) good = block.number;
    else bad = block.number;
  }
}

/** A block in [from, below): the highest up to the target, or else the lowest above it. */
async function readNear(
  db: Database,
  chainId: number,
  { from, below, target }: { from: bigint; below: bigint; target: bigint },
): Promise<StoredBlock | undefined> {
  const upTo = target + 1n < below ? target + 1n : below;
  const [block] = upTo > from ? await readBlocks(db, chainId, { from, below: upTo, most: 1 }) : [];
  if (block !== undefined) return block;
  const above = upTo > from ? upTo : from;
  const [next] = await readBlocks(db, chainId, { from: above, below, most: 1, lowest: true });
  return next;
}

type Range = { from: bigint; below: bigint; most: number; lowest?: boolean };

/** The highest (or lowest) blocks in [from, below) that are effective in the log or in Ponder's cache. */
async function readBlocks(db: Database, chainId: number, range: Range): Promise<StoredBlock[]> {
  const { from, below, most, lowest = false } = range;
  if (from >= below) return [];
  const direction = sql.raw(lowest ? "asc" : "desc");
  const { rows } = await sql<StoredBlock>`
    (select b.number, b.hash from log.block b
     where b.block_id >= ${firstBlockId(chainId, from)} and b.block_id < ${firstBlockId(chainId, below)}
       and not exists (
         select from log.retracted_blocks(${logHead}) d where d.block_id = b.block_id)
     order by b.block_id ${direction} limit ${most})
    union
    (select s.number, decode(substr(s.hash, 3), 'hex') from ponder_sync.blocks s
     where s.chain_id = ${chainId} and s.number >= ${from} and s.number < ${below}
     order by s.number ${direction} limit ${most})
    order by 1 ${direction} limit ${most}`.execute(db);
  return rows;
}

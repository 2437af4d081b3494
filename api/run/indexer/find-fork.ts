import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { firstBlockId, logHead } from "#projections/log/blocks.ts";
import { type ChainClient, fetchCanonicalHashes } from "#jobs/chain/client.ts";

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

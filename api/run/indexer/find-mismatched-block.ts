import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { ChainReader } from "#api/background/chain-reader/chain-reader.ts";

/**
 * Compares the first and the last block in Ponder's cache with the chain. Ponder looks up cached data by chain id and
 * height only, so that after a reset of a chain it would keep old events and miss new ones. Returns a description of the
 * block that differs; undefined when none does.
 */
export async function findMismatchedBlock(
  db: Database,
  { chainId, heads, blocks }: Pick<ChainReader, "chainId" | "heads" | "blocks">,
): Promise<string | undefined> {
  const head = Number(heads.head()?.number ?? 0);
  const stored = await readFirstAndLastBlock(db, chainId);
  const numbers = stored.map(({ number }) => Number(number)).filter((number) => number <= head);
  const canonical = await blocks.byNumbers(numbers);
  const hashes = new Map(canonical.map(({ number, hash }) => [BigInt(number), hash]));
  const mismatch = stored.find(({ number, hash }) => (hashes.get(number) ?? hash) !== hash);
  if (mismatch === undefined) return undefined;
  const { number, hash } = mismatch;
  return (
    `block ${number} is ${hash} in Ponder's cache and ${hashes.get(number)} on the chain. Either the database was ` +
    "filled from another chain of that id, or the chain was reorganized below the block that Ponder took for final: " +
    `if this is the right chain, run \`npm run op -- recover --chain ${chainId}\``
  );
}

/** The first and the last of the chain's blocks in Ponder's cache. */
async function readFirstAndLastBlock(
  db: Database,
  chainId: number,
): Promise<{ number: bigint; hash: Hex }[]> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('ponder_sync.blocks') is not null as exists`.execute(db);
  if (!rows[0]?.exists) return [];
  const outer = await sql<{ number: bigint; hash: Hex }>`
    (select number, hash from ponder_sync.blocks where chain_id = ${chainId} order by number limit 1)
    union
    (select number, hash from ponder_sync.blocks where chain_id = ${chainId} order by number desc limit 1)
  `.execute(db);
  return outer.rows;
}

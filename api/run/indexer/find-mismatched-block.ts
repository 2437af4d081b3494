import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../../projections/database.ts";
import { canonicalHashes, openChain } from "../../work/chain/clients.ts";
import type { ChainConfig } from "../config/config.ts";

/**
 * Ponder finds what it has stored by chain id and height alone: of a chain begun anew under the same id it would keep
 * the old events and miss the new. Says in which stored block the chain differs; undefined when in none.
 */
export async function findMismatchedBlock(
  db: Database,
  { chainId, rpcUrls }: Pick<ChainConfig, "chainId" | "rpcUrls">,
): Promise<string | undefined> {
  const stored = await readFirstAndLastBlock(db, chainId);
  const numbers = stored.map(({ number }) => number);
  const hashes = await canonicalHashes(openChain({ chainId, rpcUrls }), numbers);
  const mismatch = stored.find(({ number, hash }) => (hashes.get(number) ?? hash) !== hash);
  if (mismatch === undefined) return undefined;
  const { number, hash } = mismatch;
  return (
    `block ${number} is ${hash} in Ponder's store and ${hashes.get(number)} on the chain. Either the database was ` +
    "filled from another chain of that id, or the chain was reorganised below what Ponder holds for final: " +
    `if this is the right chain, run \`npm run op -- recover --chain ${chainId}\``
  );
}

/** The first and the last of the chain's blocks in Ponder's store. */
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

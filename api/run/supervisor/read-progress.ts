import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { blockIdRange, readLogHead } from "#projections/log/blocks.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";

export type ChainNodes = { chainId: number; rpcUrls: readonly string[] };

/** How far recording is. `block`: the highest block with facts; `head`: the chain's. Null: not known. */
type ChainProgress = { chainId: number; block: number | null; head: number | null };
export type Progress = { facts: number; chains: ChainProgress[] };

/** Reads how far recording is, from the log and from the chains' nodes. */
export function openProgressReader(
  db: Database,
  chains: readonly ChainNodes[],
): () => Promise<Progress> {
  const limits = { timeoutMs: 2_000, maxAgeMs: 2_000, staleBlocks: 0 };
  const readers = chains.map(({ chainId, rpcUrls }) => ({
    chainId,
    readHead: openHeadReader({ chainId, rpcUrls, ...limits }),
  }));
  return async () => ({
    facts: Number(await readLogHead(db)),
    chains: await Promise.all(
      readers.map(async ({ chainId, readHead }) => {
        const [block, { head }] = await Promise.all([readHighestBlock(db, chainId), readHead()]);
        return { chainId, block, head: head?.number ?? null };
      }),
    ),
  });
}

async function readHighestBlock(db: Database, chainId: number): Promise<number | null> {
  const { from, to } = blockIdRange(chainId);
  const { rows } = await sql<{ number: bigint }>`
    select number from log.block where block_id >= ${from} and block_id < ${to}
    order by block_id desc limit 1`.execute(db);
  const number = rows[0]?.number;
  return number === undefined ? null : Number(number);
}

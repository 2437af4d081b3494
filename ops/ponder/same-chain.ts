import { sql } from "kysely";
import type { Hex } from "viem";
import { blockIdRange, logHead } from "#projections/log/blocks.ts";
import type { Database } from "#projections/log/database.ts";
import type { ChainReader } from "../reader/chain-reader.ts";

/** How many of the log's oldest blocks are looked for: a few may have been told wrongly when they were recorded. */
const comparedBlocks = 8;

/**
 * Whether the chain that the nodes have is the one that the log was made of: one of the oldest effective blocks is on it.
 * A log without blocks is of any chain. Throws `RpcFailure` when no node can tell.
 */
export async function isChainOfLog(
  db: Database,
  { chainId, blocks }: Pick<ChainReader, "chainId" | "blocks">,
): Promise<boolean> {
  const recorded = await readOldestBlocks(db, chainId);
  if (recorded.length === 0) return true;
  const numbers = [...new Set(recorded.map(({ number }) => Number(number)))];
  const headers = await blocks.byNumbers(numbers);
  const onChain = new Set(headers.map(({ hash }) => hash.toLowerCase() as Hex));
  return recorded.some(({ hash }) => onChain.has(hash));
}

type RecordedBlock = { number: bigint; hash: Hex };

async function readOldestBlocks(db: Database, chainId: number): Promise<RecordedBlock[]> {
  const { from, to } = blockIdRange(chainId);
  const { rows } = await sql<RecordedBlock>`
    select b.number, b.hash from log.block b
    where b.block_id >= ${from} and b.block_id < ${to}
      and not exists (select from log.retracted_blocks(${logHead}) r where r.block_id = b.block_id)
    order by b.block_id limit ${comparedBlocks}`.execute(db);
  return rows;
}

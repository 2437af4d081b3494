import { sql } from "kysely";
import type { Hex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { Target } from "#projections/engine/checkpoint.ts";
import type { Database } from "#projections/log/database.ts";
import { project, setBlocks } from "../database/given.ts";
import { replayChain } from "./chain-replay.ts";
import type { Market } from "./market.ts";

export type LoggedBlock = { number: bigint; hash: Hex; timestamp: Date; isRetracted: boolean };

/** Blocks that the log has of a chain, and whether they are retracted now. */
export async function readLoggedBlocks(db: Database, chainId: ChainId): Promise<LoggedBlock[]> {
  const { rows } = await sql<LoggedBlock>`
    select b.number, b.hash, b.timestamp,
           b.block_id in (select r.block_id from log.retracted_blocks((select position from log.head)) r) as "isRetracted"
    from log.block b where b.chain_id = ${chainId} order by b.number`.execute(db);
  return rows;
}

/** As the recorder does: blocks that left the chain are retracted, new ones appended, and all is derived. */
export async function followChain(
  db: Database,
  { client }: Market,
  targets: readonly Target[],
  chainId: ChainId = 33139,
): Promise<void> {
  const head = await client.getBlockNumber();
  const gone: LoggedBlock[] = [];
  for (const block of await readLoggedBlocks(db, chainId)) {
    if (block.isRetracted) continue;
    const now =
      block.number > head ? null : (await client.getBlock({ blockNumber: block.number })).hash;
    if (now !== block.hash) gone.push(block);
  }
  await setBlocks(
    db,
    "block_retracted",
    gone.map(({ number, hash, timestamp }) => ({
      ...{ chainId, number: Number(number), hash },
      timestamp: timestamp.getTime() / 1_000,
    })),
  );
  await replayChain(db, client, chainId);
  await project(db, targets);
}

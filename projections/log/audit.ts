import { sql } from "kysely";
import type { Database } from "../database.ts";
import { appendObservationsIn, type Observation } from "./append.ts";
import { firstBlockId } from "./block-id.ts";
import { appendBlockStates } from "./block-states.ts";
import { coreIndexer } from "./indexer-id.ts";
import { logHead } from "./read-log-head.ts";
import { type DecodedEvent, stageDecoded } from "./recording/ponder-events.ts";
import { blockNumberIn } from "./recording/ponder-id.ts";
import type { PoolCoins } from "./recording/pool-events.ts";
import { appendStaged, openStage } from "./stage.ts";

/** A block of the log, with the places of its events. */
export type LoggedBlock = {
  blockId: bigint;
  number: number;
  hash: string;
  dropped: boolean;
  logIndexes: number[];
};

/** A block of the chain with events of the indexed sources that become facts. */
export type ChainBlock = { number: number; hash: string; logIndexes: readonly number[] };

export type Difference = {
  /**
   * `missing`: events of the chain that the log lacks. `surplus`: events of the log that the chain lacks.
   * `wrong_block`: a block that counts and is not the chain's. `dropped_block`: one that is, and does not count.
   */
  kind: "missing" | "surplus" | "wrong_block" | "dropped_block";
  number: number;
  hash: string;
  logIndexes: number[];
};

/** The log's blocks with events, at heights from `from` to `to`. */
export async function readLoggedBlocks(
  db: Database,
  chainId: number,
  { from, to }: { from: number; to: number },
): Promise<LoggedBlock[]> {
  const { rows } = await sql<Omit<LoggedBlock, "number"> & { number: bigint }>`
    select b.block_id as "blockId", b.number, b.hash, d.block_id is not null as dropped,
           array_agg(f.log_index order by f.log_index) as "logIndexes"
    from log.fact f join log.block b using (block_id)
    left join log.retracted_blocks(${logHead}) d using (block_id)
    where f.log_index is not null and f.sub_index = 0
      and f.block_id >= ${firstBlockId(chainId, BigInt(from))}
      and f.block_id < ${firstBlockId(chainId, BigInt(to) + 1n)}
    group by b.block_id, d.block_id order by b.block_id`.execute(db);
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/** Height up to which the log has taken over what an indexer holds for final; -1 before the first. */
export async function readSettledNumber(
  db: Database,
  chainId: number,
  indexer: string = coreIndexer,
): Promise<number> {
  const { rows } = await sql<{ number: bigint | null }>`
    select max(${blockNumberIn("r.settled_id")}) as number
    from ops.recorder r join ops.indexer i using (chain_id, ponder_schema)
    where r.chain_id = ${chainId} and i.name = ${indexer}`.execute(db);
  return Number(rows[0]?.number ?? -1n);
}

/** Where log and chain differ. `canonical` says which block is at the heights of the log's blocks. */
export function compareBlocks(
  logged: readonly LoggedBlock[],
  onChain: readonly ChainBlock[],
  canonical: ReadonlyMap<number, string | null>,
): Difference[] {
  const chain = new Map(onChain.map((block) => [block.hash, block]));
  const log = new Map(logged.map((block) => [block.hash, block]));
  const differences: Difference[] = [];
  const add = (kind: Difference["kind"], { number, hash }: ChainBlock, logIndexes: number[]) => {
    if (logIndexes.length > 0) differences.push({ kind, number, hash, logIndexes });
  };
  for (const block of onChain) {
    add("missing", block, without(block.logIndexes, log.get(block.hash)?.logIndexes ?? []));
  }
  for (const block of logged) {
    const isCanonical = canonical.get(block.number) === block.hash;
    if (!isCanonical && !block.dropped) add("wrong_block", block, block.logIndexes);
    if (!isCanonical) continue;
    if (block.dropped) add("dropped_block", block, block.logIndexes);
    add("surplus", block, without(block.logIndexes, chain.get(block.hash)?.logIndexes ?? []));
  }
  return differences.sort((a, b) => a.number - b.number);
}

function without(all: readonly number[], known: readonly number[]): number[] {
  const set = new Set(known);
  return all.filter((one) => !set.has(one));
}

/** Events of the chain that the log lacks, and what their pools are paid in. */
export type MissingEvents = {
  readonly missing: readonly DecodedEvent[];
  readonly coins: PoolCoins;
};

export type Repairs = MissingEvents & {
  readonly wrong: readonly bigint[];
  readonly dropped: readonly bigint[];
};

/**
 * Appends the chain's missing events, and lets count the blocks that are the chain's and no others. `fact`: appended with
 * them. Returns the number of facts without it.
 */
export async function repairBlocks(
  db: Database,
  { wrong, dropped, missing, coins }: Repairs,
  at: Date,
  fact?: Observation,
): Promise<number> {
  return await db.transaction().execute(async (session) => {
    // First: which facts a role may append by themselves is looked up for all that is staged.
    if (fact !== undefined) await appendObservationsIn(session, [fact]);
    let appended = await appendBlockStates(session, "block_retracted", wrong, at);
    appended += await appendBlockStates(session, "block_readopted", dropped, at);
    if (missing.length > 0) {
      await openStage(session);
      await stageDecoded(session, missing, coins);
      appended += (await appendStaged(session)).appended;
    }
    return appended;
  });
}

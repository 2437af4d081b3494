import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../database.ts";

/**
 * How far a chain's history is proved: from `provedFrom` to `provedTo`, without a gap, each block is the parent of the
 * next one, its logs are those that its header commits to, and the log holds their events.
 */
export type HistoryProof = {
  readonly chainId: number;
  /** Names of what was compared: with another set the proof begins anew. */
  readonly sources: string;
  /** First block of the indexed history. */
  readonly firstNumber: number;
  readonly provedFrom: number;
  readonly provedTo: number;
  /** Of the block at `provedFrom`: what the block below it is to be. */
  readonly parentHash: Hex;
  /** Of the block at `provedTo`. */
  readonly headHash: Hex;
  /** What proves a block's logs: its receipts' root, or their bloom. Null: the chain's headers prove nothing. */
  readonly evidence: "receipts" | "blooms" | null;
  /** Blocks below `provedFrom` that were proved alone, drawn at random. */
  readonly sampled: number;
  /** Differences from the chain that were mended, and that were not. */
  readonly repaired: number;
  readonly differing: number;
  readonly repairedAt: Date | null;
};

/** Null before the first proved block. */
export async function readHistoryProof(
  db: Database,
  chainId: number,
): Promise<HistoryProof | null> {
  const { rows } = await sql<Record<string, bigint> & HistoryProof>`
    select chain_id as "chainId", sources, first_number as "firstNumber", proved_from as "provedFrom",
           proved_to as "provedTo", parent_hash as "parentHash", head_hash as "headHash", evidence, sampled, repaired, differing,
           repaired_at as "repairedAt"
    from ops.history_proof where chain_id = ${chainId}`.execute(db);
  const row = rows[0];
  if (row === undefined) return null;
  const { firstNumber, provedFrom, provedTo, sampled, repaired, differing } = row;
  return {
    ...row,
    ...{ firstNumber: Number(firstNumber), provedFrom: Number(provedFrom) },
    ...{ provedTo: Number(provedTo), sampled: Number(sampled) },
    ...{ repaired: Number(repaired), differing: Number(differing) },
  };
}

export async function storeHistoryProof(db: Database, proof: HistoryProof): Promise<void> {
  const { chainId, sources, firstNumber, provedFrom, provedTo, parentHash, headHash } = proof;
  const { evidence, sampled, repaired, differing, repairedAt } = proof;
  await sql`
    insert into ops.history_proof (chain_id, sources, first_number, proved_from, proved_to, parent_hash, head_hash,
                                   evidence, sampled, repaired, differing, repaired_at)
    values (${chainId}, ${sources}, ${firstNumber}, ${provedFrom}, ${provedTo}, ${parentHash}, ${headHash},
            ${evidence}, ${sampled}, ${repaired}, ${differing}, ${repairedAt})
    on conflict (chain_id) do update
      set sources = excluded.sources, first_number = excluded.first_number, proved_from = excluded.proved_from,
          proved_to = excluded.proved_to, parent_hash = excluded.parent_hash, head_hash = excluded.head_hash, evidence = excluded.evidence,
          sampled = excluded.sampled, repaired = excluded.repaired, differing = excluded.differing,
          repaired_at = excluded.repaired_at, updated_at = now()`.execute(db);
}

/** The proof begins anew. */
export async function forgetHistoryProof(db: Database, chainId: number): Promise<void> {
  await sql`delete from ops.history_proof where chain_id = ${chainId}`.execute(db);
}

/** In percent, never rounded up: 100 means all. */
export const formatProvedShare = (share: number): string =>
  `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;

/** As the service tells it: `share` 0 to 1, `repairedAt` in unix seconds. */
export type HistoryState = {
  readonly firstBlock: number;
  readonly provedFrom: number;
  readonly provedTo: number;
  /** Part of the history up to `provedTo` that is proved without a gap; null where headers prove nothing. */
  readonly share: number | null;
  readonly evidence: HistoryProof["evidence"];
  readonly sampledBlocks: number;
  readonly repaired: number;
  readonly unrepaired: number;
  readonly repairedAt: number | null;
};

export async function readHistoryState(
  db: Database,
  chainId: number,
): Promise<HistoryState | null> {
  const proof = await readHistoryProof(db, chainId);
  if (proof === null) return null;
  const { firstNumber: firstBlock, provedFrom, provedTo, evidence, repaired, repairedAt } = proof;
  const proved = (provedTo - provedFrom + 1) / Math.max(1, provedTo - firstBlock + 1);
  return {
    ...{ firstBlock, provedFrom, provedTo, evidence, repaired },
    share: evidence === null ? null : proved,
    sampledBlocks: proof.sampled,
    unrepaired: proof.differing,
    repairedAt: repairedAt && Math.floor(repairedAt.getTime() / 1_000),
  };
}

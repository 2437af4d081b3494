import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "./database.ts";

/** Up to which block a chain is final. */
export type ChainFinality = {
  readonly number: number;
  /** By the chain's own word, the `finalized` tag, or by a depth below the head, where no node tells. */
  readonly saidBy: "tag" | "depth";
  /** The most blocks that the tag was seen below the head. */
  readonly deepest: number;
};

/** Null before an indexer has asked. */
export async function readChainFinality(
  db: Database,
  chainId: number,
): Promise<ChainFinality | null> {
  const { rows } = await sql<{
    number: bigint;
    saidBy: ChainFinality["saidBy"];
    deepest: bigint;
  }>`
    select number, said_by as "saidBy", deepest from ops.chain_finality where chain_id = ${chainId}`.execute(
    db,
  );
  const row = rows[0];
  return row === undefined
    ? null
    : { number: Number(row.number), saidBy: row.saidBy, deepest: Number(row.deepest) };
}

/** What was final stays so: a lower number changes nothing. */
export async function storeChainFinality(
  db: Database,
  chainId: number,
  { number, saidBy, deepest }: ChainFinality,
): Promise<void> {
  await sql`
    insert into ops.chain_finality as known (chain_id, number, said_by, deepest)
    values (${chainId}, ${number}, ${saidBy}, ${deepest})
    on conflict (chain_id) do update
      set number = greatest(known.number, excluded.number), said_by = excluded.said_by,
          deepest = greatest(known.deepest, excluded.deepest), updated_at = now()`.execute(db);
}

/** Why an indexer cannot read a chain, or uses no answer of one of its nodes. */
export type NodeFault = {
  /** The node's host, or what waits: `newest block`, `finalized block`, `Ponder of core`. */
  readonly part: string;
  readonly reason: string;
  /** Hosts of the chain's nodes, which part and reason may name: for operators only. */
  readonly hosts: readonly string[];
  readonly since: Date;
};

export const describeNodeFault = ({ part, reason, since }: Omit<NodeFault, "hosts">): string =>
  `${part}: ${reason}, since ${since.toISOString()}`;

/** What was not said again for so long is over, or nobody is there to say it. */
const toldForSeconds = 30;

export async function readNodeFaults(db: Database, chainId: number): Promise<NodeFault[]> {
  const { rows } = await sql<NodeFault>`
    select part, reason, hosts, since from ops.node_fault
    where chain_id = ${chainId} and seen_at > clock_timestamp() - make_interval(secs => ${toldForSeconds})
    order by since, part`.execute(db);
  return rows;
}

/** Stores the faults that there are now in place of those that there were. */
export async function storeNodeFaults(
  db: Database,
  chainId: number,
  faults: readonly Pick<NodeFault, "part" | "reason">[],
  hosts: readonly string[],
): Promise<void> {
  await sql`
    with told as (
      select part, reason from jsonb_to_recordset(${JSON.stringify(faults)}::jsonb) as one (part text, reason text)
    ), over as (
      delete from ops.node_fault f
      where f.chain_id = ${chainId} and not exists (select from told t where t.part = f.part)
    )
    insert into ops.node_fault as known (chain_id, part, reason, hosts)
    select ${chainId}, part, reason, ${hosts}::text[] from told
    on conflict (chain_id, part) do update
      set reason = excluded.reason, hosts = excluded.hosts, seen_at = clock_timestamp(),
          since = case when known.seen_at > clock_timestamp() - make_interval(secs => ${toldForSeconds})
                       then known.since else clock_timestamp() end`.execute(db);
}

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
  /** Differences from the chain that were mended. */
  readonly repaired: number;
  /** Blocks that were not mended, each compared again until it agrees: the next one first. */
  readonly differing: readonly number[];
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
    ...{ repaired: Number(repaired), differing: differing.map(Number) },
  };
}

export async function storeHistoryProof(db: Database, proof: HistoryProof): Promise<void> {
  const { chainId, sources, firstNumber, provedFrom, provedTo, parentHash, headHash } = proof;
  const { evidence, sampled, repaired, differing, repairedAt } = proof;
  await sql`
    insert into ops.history_proof (chain_id, sources, first_number, proved_from, proved_to, parent_hash, head_hash,
                                   evidence, sampled, repaired, differing, repaired_at)
    values (${chainId}, ${sources}, ${firstNumber}, ${provedFrom}, ${provedTo}, ${parentHash}, ${headHash},
            ${evidence}, ${sampled}, ${repaired}, ${differing}::bigint[], ${repairedAt})
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
    unrepaired: proof.differing.length,
    repairedAt: repairedAt && Math.floor(repairedAt.getTime() / 1_000),
  };
}

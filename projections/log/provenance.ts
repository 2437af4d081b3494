import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../database.ts";
import { kindLiteral } from "./fact-kind-sql.ts";
import { type About, isAbout } from "./facts-about.ts";

/** A fact with its place. `counts`: whether it is effective at the requested position. */
export type PlacedFact = {
  position: bigint;
  kind: number;
  chainId: number | null;
  block: { number: bigint; hash: Hex; timestamp: Date } | null;
  transactionHash: Hex | null;
  logIndex: number | null;
  subIndex: number | null;
  contract: Hex | null;
  tokenId: bigint | null;
  amount: bigint | null;
  from: Hex | null;
  to: Hex | null;
  orderHash: Hex | null;
  recordedAt: Date | null;
  payload: unknown;
  counts: boolean;
  droppedAt: bigint | null;
};

/** The first `most` of them, and how many there are. */
export async function readFactsBehind(
  db: Database,
  about: About,
  { position, most }: { position: bigint; most: number },
): Promise<{ total: bigint; facts: PlacedFact[] }> {
  const { rows } = await sql<FlatFact & { total: bigint }>`
    with retracted as materialized (select block_id from log.retracted_blocks(${position})),
    chosen as materialized (select f.* from log.fact f where ${isAbout(about)})
    select ${placed}, d.block_id is null and f.position <= ${position} as counts,
           case when d.block_id is not null then (
             select max(s.position) from log.fact s
             where s.block_id = f.block_id and s.kind = ${kindLiteral("block_retracted")} and s.position <= ${position}
           ) end as "droppedAt",
           count(*) over () as total
    from chosen f ${joins} left join retracted d on d.block_id = f.block_id
    order by f.block_id nulls last, f.log_index, f.sub_index, f.position
    limit ${most}`.execute(db);
  return { total: rows[0]?.total ?? 0n, facts: rows.map(placeFact) };
}

export type FactFilter = {
  after: bigint;
  kinds: readonly number[] | null;
  chainIds: readonly number[] | null;
};

/** The next facts of the log that a filter lets through, at most `most`, by position. */
export async function readFactsAfter(
  db: Database,
  { after, kinds, chainIds }: FactFilter,
  upTo: bigint,
  most: number,
): Promise<PlacedFact[]> {
  const { rows } = await sql<FlatFact>`
    select ${placed}, true as counts, null::bigint as "droppedAt"
    from log.fact f ${joins}
    where f.position > ${after} and f.position <= ${upTo}
      ${kinds === null ? sql`` : sql`and f.kind = any (${kinds}::smallint[])`}
      ${chainIds === null ? sql`` : sql`and coalesce(b.chain_id, c.chain_id) = any (${chainIds}::int[])`}
    order by f.position limit ${most}`.execute(db);
  return rows.map(placeFact);
}

/** Positions that a search for facts before a position covers at most. */
const mostSearched = 100_000n;

/** The newest facts before a position that a filter lets through. `next`: before which the search goes on; null: never. */
export async function readFactsBefore(
  db: Database,
  { kinds, chainIds }: Omit<FactFilter, "after">,
  before: bigint,
  most: number,
): Promise<{ facts: PlacedFact[]; next: bigint | null }> {
  const searched = before - 1n - mostSearched;
  const after = searched > 0n ? searched : 0n;
  const { rows } = await sql<FlatFact>`
    select ${placed}, true as counts, null::bigint as "droppedAt"
    from log.fact f ${joins}
    where f.position > ${after} and f.position < ${before}
      ${kinds === null ? sql`` : sql`and f.kind = any (${kinds}::smallint[])`}
      ${chainIds === null ? sql`` : sql`and coalesce(b.chain_id, c.chain_id) = any (${chainIds}::int[])`}
    order by f.position desc limit ${most}`.execute(db);
  const last = rows.length === most ? rows.at(-1)?.position : undefined;
  return { facts: rows.map(placeFact), next: last ?? (after > 0n ? after + 1n : null) };
}

type FlatFact = Omit<PlacedFact, "block"> & {
  blockNumber: bigint | null;
  blockHash: Hex | null;
  timestamp: Date | null;
};

const placed = sql`
  f.position, f.kind, coalesce(b.chain_id, c.chain_id) as "chainId", b.number as "blockNumber", b.hash as "blockHash",
  b.timestamp, t.hash as "transactionHash", f.log_index as "logIndex", f.sub_index as "subIndex",
  c.address as contract, f.token_id as "tokenId", f.amount, f.from_address as "from", f.to_address as "to",
  f.order_hash as "orderHash", f.recorded_at as "recordedAt", f.payload`;

const joins = sql`
  left join log.block b on b.block_id = f.block_id
  left join log.transaction t on t.block_id = f.block_id and t.transaction_index = f.transaction_index
  left join log.contract c on c.contract_id = f.contract_id`;

function placeFact({ blockNumber, blockHash, timestamp, ...fact }: FlatFact): PlacedFact {
  const isPlaced = blockNumber !== null && blockHash !== null && timestamp !== null;
  return { ...fact, block: isPlaced ? { number: blockNumber, hash: blockHash, timestamp } : null };
}

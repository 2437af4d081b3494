import { sql } from "kysely";
import type { Database } from "../database.ts";

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

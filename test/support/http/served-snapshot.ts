import { sql } from "kysely";
import { z } from "zod";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Database } from "#projections/log/database.ts";
import type { ApiClient } from "./openapi.ts";

/** A snapshot, the block that it is of, and the first block. */
export type KnownSnapshot = {
  readonly id: string;
  readonly block: string;
  readonly before: string;
};

/** What a snapshot of the punks and an edition is asked for with. */
export const snapshotBody = (chainId: number, block: string) => ({
  ...{ chainId, at: block, name: "Airdrop of spring" },
  collections: [
    { collection: contracts.punks },
    { collection: contracts.editions, tokenIds: ["1"] },
  ],
});

/** Of the newest block, which is final from now on. */
export async function makeKnownSnapshot(
  { db, v1, key }: { db: Database; v1: ApiClient; key: string },
  chainId: number,
): Promise<KnownSnapshot> {
  const { rows } = await sql<{ first: bigint; last: bigint }>`
    select min(b.number) as first, max(b.number) as last from log.block b
    where b.chain_id = ${chainId} and exists (select from log.fact f where f.block_id = b.block_id and f.log_index is not null)`.execute(
    db,
  );
  const [before, block] = [`${rows[0]?.first}`, `${rows[0]?.last}`];
  await sql`
    insert into ops.chain_finality (chain_id, number, said_by) values (${chainId}, ${block}, 'tag')
    on conflict (chain_id) do update set number = excluded.number`.execute(db);
  const { body } = await v1.post("/v1/snapshots", snapshotBody(chainId, block), {
    "x-api-key": key,
  });
  const made = z.object({ data: z.object({ snapshotId: z.string() }) }).parse(body);
  return { id: made.data.snapshotId, block, before };
}

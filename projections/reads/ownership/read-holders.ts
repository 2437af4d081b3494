import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";

/** Token ids, and units of them, that an address holds of a family. */
export type HolderRow = { owner: Hex; tokens: bigint; units: bigint };

/** Place in the list. */
export type HolderKey = { tokens: bigint; owner: Hex };

/** Who holds most token ids first; burn addresses are no holders. */
export async function readHolders(
  db: Database,
  contractIds: readonly number[],
  { limit, after }: { limit: number; after: HolderKey | null },
): Promise<HolderRow[]> {
  const family = sql`contract_id = any (${contractIds}::int[])`;
  const beyond =
    after === null
      ? sql`true`
      : sql`(tokens, owner) < (${after.tokens}::bigint, decode(${after.owner.slice(2)}, 'hex'))`;
  const held =
    contractIds.length === 1
      ? sql`select owner, tokens from ownership.holder where ${family} and tokens > 0`
      : sql`
        select owner, sum(tokens)::bigint as tokens from ownership.holder
        where ${family} and tokens > 0 group by owner`;
  const { rows } = await sql<HolderRow>`
    with page as materialized (
      select owner, tokens from (${held}) held where ${beyond} order by tokens desc, owner desc limit ${limit}
    )
    select page.owner, page.tokens, page.tokens + coalesce(many.units - many.ids, 0) as units
    from page left join lateral (
      select sum(b.units) as units, count(*) as ids from ownership.balance b
      where b.owner = page.owner and b.${family} and b.units > 0
    ) many on true
    order by page.tokens desc, page.owner desc`.execute(db);
  return rows;
}

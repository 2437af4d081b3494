import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";

/** How many token ids of a collection an address holds, and how many units. */
export type HolderRow = { owner: Hex; tokens: bigint; units: bigint };

/** Sort key of a holder. */
export type HolderCursor = { tokens: bigint; owner: Hex };

/** Holders of a collection by token ids held, most first; burn addresses are not holders. */
export async function readHolders(
  db: Database,
  contractIds: readonly number[],
  { limit, after }: { limit: number; after: HolderCursor | null },
): Promise<HolderRow[]> {
  const ofCollection = sql`contract_id = any (${contractIds}::int[])`;
  const isAfter =
    after === null
      ? sql`true`
      : sql`(tokens, owner) < (${after.tokens}::numeric, ${bytea(after.owner)})`;
  const { rows } = await sql<HolderRow>`
    with page as materialized (
      select owner, tokens from (${heldBy(contractIds)}) held where ${isAfter} order by tokens desc, owner desc limit ${limit}
    )
    select page.owner, page.tokens, page.tokens + coalesce(many.units - many.ids, 0) as units
    from page left join lateral (
      select sum(b.units) as units, count(*) as ids from ownership.balance b
      where b.owner = page.owner and b.${ofCollection} and b.units > 0
    ) many on true
    order by page.tokens desc, page.owner desc`.execute(db);
  return rows;
}

/** How many addresses hold at least `from` token ids of a collection and fewer than the next group, and how many ids. */
export type HolderGroup = { from: number; holders: bigint; tokens: bigint };

/** Holders of a collection by token ids held, in groups that begin at each of `starts`, ascending; without empty ones. */
export async function readHolderGroups(
  db: Database,
  contractIds: readonly number[],
  starts: readonly number[],
): Promise<HolderGroup[]> {
  const { rows } = await sql<HolderGroup>`
    select (${starts}::int[])[width_bucket(tokens, ${starts}::numeric[])] as "from", count(*) as holders,
           sum(tokens)::numeric as tokens
    from (${heldBy(contractIds)}) held group by 1 order by 1`.execute(db);
  return rows;
}

/** SQL: how many token ids of a collection each of its holders has. */
function heldBy(contractIds: readonly number[]) {
  const held = sql`from ownership.holder where contract_id = any (${contractIds}::int[]) and tokens > 0`;
  return contractIds.length === 1
    ? sql`select owner, tokens ${held}`
    : sql`select owner, sum(tokens) as tokens ${held} group by owner`;
}

/** How many addresses hold tokens of a collection. */
export async function countHolders(db: Database, contractIds: readonly number[]): Promise<bigint> {
  const counted =
    contractIds.length === 1
      ? sql`coalesce(sum(holders), 0)::bigint as total from ownership.collection where contract_id = any (${contractIds}::int[])`
      : sql`count(*) as total from (${heldBy(contractIds)}) held`;
  const { rows } = await sql<{ total: bigint }>`select ${counted}`.execute(db);
  return rows[0]?.total ?? 0n;
}

import { type RawBuilder, sql } from "kysely";
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

/** Units of a token that an address holds. */
export type TokenHolder = { owner: Hex; units: bigint };

/** Holders of one ERC-1155 id, by address. */
export async function readTokenHolders(
  db: Database,
  contractIds: readonly number[],
  tokenId: bigint,
  { limit, after = null }: { limit: number; after?: Hex | null },
): Promise<TokenHolder[]> {
  const isAfter = after === null ? sql`true` : sql`b.owner > ${bytea(after)}`;
  const { rows } = await sql<TokenHolder>`
    select b.owner, sum(b.units) as units from ownership.balance b
    where b.contract_id = any (${contractIds}::int[]) and b.token_id = ${tokenId} and b.units > 0 and ${isAfter}
    group by b.owner order by b.owner limit ${limit}`.execute(db);
  return rows;
}

/** A contract of which a wallet holds tokens. `tokens`: ids. `firstId`: the lowest of them. */
export type HeldContract = {
  contractId: number;
  contract: Hex;
  tokens: bigint;
  units: bigint;
  firstId: bigint;
};

/** Contracts of a chain of which a wallet holds tokens, by id, after one of them. */
export async function readHeldContracts(
  db: Database,
  { chainId, wallet }: { chainId: number; wallet: Hex },
  { limit, after }: { limit: number; after: number },
): Promise<HeldContract[]> {
  const owner = bytea(wallet);
  const next = (than: RawBuilder<unknown>) => sql`
    select min(contract_id) as contract_id from (
      (select contract_id from ownership.token where owner = ${owner} and contract_id > ${than} order by contract_id limit 1)
      union all
      (select contract_id from ownership.token_range where owner = ${owner} and contract_id > ${than} order by contract_id limit 1)
      union all
      (select contract_id from ownership.balance where owner = ${owner} and contract_id > ${than} order by contract_id limit 1)
    ) one`;
  const { rows } = await sql<HeldContract>`
    with recursive held as (
      (${next(sql`${after}::int`)})
      union all
      select n.contract_id from held cross join lateral (${next(sql`held.contract_id`)}) n where held.contract_id is not null
    )
    select h.contract_id as "contractId", k.address as contract, o.tokens, o.tokens + coalesce((
             select sum(b.units) - count(*) from ownership.balance b
             where b.owner = ${owner} and b.contract_id = h.contract_id and b.units > 0
           ), 0) as units, (
             select min(token_id) from (
               (select token_id from ownership.token t where t.owner = ${owner} and t.contract_id = h.contract_id order by 1 limit 1)
               union all
               (select first_id from ownership.token_range r where r.owner = ${owner} and r.contract_id = h.contract_id order by 1 limit 1)
               union all
               (select token_id from ownership.balance b
                where b.owner = ${owner} and b.contract_id = h.contract_id and b.units > 0 order by 1 limit 1)
             ) one
           ) as "firstId"
    from held h join log.contract k using (contract_id)
    join ownership.holder o on o.contract_id = h.contract_id and o.owner = ${owner} and o.tokens > 0
    where k.chain_id = ${chainId} and exists (select from collections.contract m where m.contract_id = h.contract_id)
    order by h.contract_id limit ${limit}`.execute(db);
  return rows;
}

/** Whether an address holds a token of the contracts. */
export async function readIsHolder(
  db: Database,
  contractIds: readonly number[],
  owner: Hex,
): Promise<boolean> {
  const { rows } = await sql<{ isHolder: boolean }>`
    select exists (
      select from ownership.holder h
      where h.contract_id = any (${contractIds}::int[]) and h.owner = ${bytea(owner)} and h.tokens > 0
    ) as "isHolder"`.execute(db);
  return rows[0]?.isHolder ?? false;
}

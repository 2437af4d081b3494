import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../log/database.ts";
import { byteaArray } from "../log/sql-values.ts";

/** Contracts of a chain's collections whose royalty was never fetched, but `excluded` ones. */
export async function readContractsWithoutRoyalty(
  session: Session,
  chainId: number,
  excluded: readonly Address[],
  limit: number,
): Promise<Address[]> {
  const { rows } = await sql<{ address: Address }>`
    select k.address
    from collections.contract m join log.contract k on k.contract_id = m.contract_id
    where not m.has_royalty and k.chain_id = ${chainId} and k.address <> all (${byteaArray(excluded)})
    limit ${limit}`.execute(session);
  return rows.map(({ address }) => address);
}

/** At most one reading of a contract per this interval is requested, however many orders find it different. */
const rereadEvery = "10 minutes";

/** Requests that the job fetches the royalty of the chain's `contracts` (lower case) again. */
export async function requestRoyaltyReread(
  session: Session,
  chainId: number,
  contracts: readonly Address[],
  now: Date,
): Promise<void> {
  await sql`
    insert into ops.royalty_reread as r (chain_id, contract, asked_at)
    select ${chainId}::int, contract, ${now}::timestamptz from unnest(${byteaArray(contracts)}) contract
    order by contract
    on conflict (chain_id, contract) do update set asked_at = excluded.asked_at, read_at = null
      where r.read_at is not null and r.asked_at < excluded.asked_at - ${rereadEvery}::interval`.execute(
    session,
  );
}

/** Those requested and not fetched since. */
export async function readContractsToReread(
  session: Session,
  chainId: number,
  limit: number,
): Promise<Address[]> {
  const { rows } = await sql<{ contract: Address }>`
    select contract from ops.royalty_reread where chain_id = ${chainId} and read_at is null
    limit ${limit}`.execute(session);
  return rows.map(({ contract }) => contract);
}

export async function endRoyaltyReread(
  session: Session,
  chainId: number,
  contracts: readonly Address[],
  now: Date,
): Promise<void> {
  await sql`
    update ops.royalty_reread set read_at = ${now}
    where chain_id = ${chainId} and contract = any (${byteaArray(contracts)})`.execute(session);
}

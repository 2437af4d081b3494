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

/** Contracts of the daily scan over a chain's collections; `afterId` continues after them, null: these are the last. */
type ScanBatch = { startedAt: Date; contracts: Address[]; afterId: number | null };

const dayMs = 24 * 60 * 60_000;

/** The next batch; null: the scan of the day has ended. It survives restarts. The first one starts a day after the first call. */
export async function readScanBatch(
  session: Session,
  chainId: number,
  now: Date,
  limit: number,
): Promise<ScanBatch | null> {
  const { rows } = await sql<{ startedAt: Date; afterId: number | null }>`
    with begun as (
      insert into ops.royalty_scan (chain_id, started_at, after_id) values (${chainId}, ${now}, null)
      on conflict do nothing
    )
    select started_at as "startedAt", after_id as "afterId" from ops.royalty_scan where chain_id = ${chainId}`.execute(
    session,
  );
  const [scan] = rows;
  if (scan === undefined) return null;
  const isDue = now.getTime() - scan.startedAt.getTime() >= dayMs;
  if (scan.afterId === null && !isDue) return null;
  const startedAt = scan.afterId === null ? now : scan.startedAt;
  const found = await sql<{ id: number; address: Address }>`
    select m.contract_id as id, k.address
    from collections.contract m join log.contract k using (contract_id)
    where m.contract_id > ${scan.afterId ?? 0} and k.chain_id = ${chainId} and m.has_royalty
    order by m.contract_id limit ${limit}`.execute(session);
  const last = found.rows.at(-1)?.id ?? null;
  return {
    startedAt,
    contracts: found.rows.map(({ address }) => address),
    afterId: found.rows.length < limit ? null : last,
  };
}

export async function advanceScan(
  session: Session,
  chainId: number,
  { startedAt, afterId }: ScanBatch,
): Promise<void> {
  await sql`
    update ops.royalty_scan set started_at = ${startedAt}, after_id = ${afterId}
    where chain_id = ${chainId}`.execute(session);
}

import { sql } from "kysely";
import type { Database, Session } from "#projections/log/database.ts";
import { type DueFilter, type MetadataTarget, standardOf } from "./read-due-metadata.ts";

/** Time between two requests for the same token. */
export const requestMinutes = 10;
const pause = sql`interval '1 minute' * ${sql.lit(requestMinutes)}`;

type TokenId = { chainId: number; contractId: number; tokenId: bigint };

/** When the request was taken, or, where one was within the last minutes, when that was. */
export type RequestResult = { isTaken: boolean; requestedAt: Date };

/** Asks for a token's metadata to be fetched again. One of several at the same time is taken, whatever process has them. */
export async function requestMetadata(
  db: Database,
  { chainId, contractId, tokenId }: TokenId,
): Promise<RequestResult> {
  const { rows } = await sql<{ requestedAt: Date }>`
    insert into ops.metadata_request as r (chain_id, contract_id, token_id, requested_at)
    values (${chainId}, ${contractId}, ${tokenId}, now())
    on conflict (contract_id, token_id) do update set requested_at = now(), is_pending = true
    where r.requested_at <= now() - ${pause}
    returning requested_at as "requestedAt"`.execute(db);
  const [taken] = rows;
  if (taken !== undefined) return { isTaken: true, ...taken };
  const { rows: earlier } = await sql<{ requestedAt: Date }>`
    select requested_at as "requestedAt" from ops.metadata_request
    where contract_id = ${contractId} and token_id = ${tokenId}`.execute(db);
  return { isTaken: false, requestedAt: earlier[0]?.requestedAt ?? new Date() };
}

/** Tokens that callers asked for, the oldest requests first. */
export async function readRequested(
  session: Session,
  { chainId, pausedContractIds }: DueFilter,
  limit: number,
): Promise<MetadataTarget[]> {
  const { rows } = await sql<MetadataTarget>`
    select t.contract_id as "contractId", k.address as contract, t.token_id as "tokenId", (${standardOf}) as standard,
           m.position is null as "isOfRange", true as "isUnpaid", null::bigint as "changedAt", coalesce(m.attempt, 0) as attempt,
           m.last_position as "lastPosition", m.position as "shownPosition", case when m.status = 'ok' then f.payload end as known
    from (
      select contract_id, token_id, requested_at from ops.metadata_request
      where chain_id = ${chainId} and is_pending and contract_id <> all (${pausedContractIds}::int[])
      order by requested_at limit ${sql.lit(limit)}
    ) t
    join log.contract k using (contract_id)
    left join metadata.token m on m.contract_id = t.contract_id and m.token_id = t.token_id
    left join log.fact f on f.position = m.position
    order by t.requested_at`.execute(session);
  return rows;
}

/** Marks requests as answered, and forgets those that stand in nobody's way any more. */
export async function endRequests(
  db: Database,
  chainId: number,
  tokens: readonly { contractId: number; tokenId: bigint | null }[],
): Promise<void> {
  await sql`
    update ops.metadata_request r set is_pending = false
    from unnest(${tokens.map(({ contractId }) => contractId)}::int[], ${tokens.map(({ tokenId }) => tokenId)}::numeric[])
      as done (contract_id, token_id)
    where r.contract_id = done.contract_id and r.token_id = done.token_id`.execute(db);
  await sql`
    delete from ops.metadata_request
    where chain_id = ${chainId} and not is_pending and requested_at <= now() - ${pause}`.execute(
    db,
  );
}

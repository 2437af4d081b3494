import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import { tokensAt } from "../engine/token-ids.ts";
import type { Database, Session } from "../log/database.ts";
import { schemaOf } from "../log/versions.ts";

/** A token, or with `tokenId` null a contract, whose metadata is to be fetched. */
export type MetadataTarget = {
  contractId: number;
  contract: Address;
  tokenId: bigint | null;
  standard: 721 | 1155;
  /** A token that was minted with others in a range, and has not been fetched yet. */
  isOfRange: boolean;
  /** A refetch that nobody paid for by an event of its own. */
  isUnpaid: boolean;
  /** Height of the block that the URI has to be read at, or at a later one; null: any. */
  changedAt: bigint | null;
  /** Failed attempts since the last success. */
  attempt: number;
  /** Position of its last fact; null: none. */
  lastPosition: bigint | null;
  /** Position of the fact that is shown, the last successful one if any; null: none. */
  shownPosition: bigint | null;
  /** Payload of its last successful fact. */
  known: unknown;
};

export type DueFilter = {
  chainId: number;
  now: Date;
  /** Contracts that are not fetched for now. */
  pausedContractIds: readonly number[];
};

/** As a literal: of a limit that it does not know the planner expects a tenth of all that is pending. */
const first = (rows: number) => sql`limit ${sql.lit(rows)}`;

/**
 * Tokens without metadata: the highest ids of each of the next contracts after `after`, in the order of the contracts'
 * ids, so that no contract delays the others. At most `contracts` contracts, about `limit` tokens and `tokensPerContract`.
 */
export async function readPendingTokens(
  session: Session,
  { chainId, pausedContractIds }: DueFilter,
  {
    after,
    contracts,
    limit,
    tokensPerContract,
  }: { after: number; contracts: number; limit: number; tokensPerContract: number },
): Promise<MetadataTarget[]> {
  const nextOf = (pending: RawBuilder<unknown>, last: unknown) => sql`
    select p.contract_id from ${pending} p
    where p.chain_id = ${chainId} and p.contract_id > ${last}
    order by p.contract_id limit 1`;
  const isPaused = (row: RawBuilder<unknown>) =>
    sql`${row}.contract_id = any (${pausedContractIds}::int[])`;
  // A paused contract is passed by in one look, however many of its tokens are pending.
  const ordinalAfter = (last: RawBuilder<unknown>, row: RawBuilder<unknown>) => sql`
    ${last} + case when ${isPaused(row)} then 0 else 1 end`;
  const next = (last: unknown) => sql`
    (${nextOf(sql`metadata.pending_token`, last)}) union all (${nextOf(sql`metadata.pending_ranged_contract`, last)})
    order by contract_id limit 1`;
  const { rows } = await sql<MetadataTarget>`
    with recursive pending_contract as (
      (select f.contract_id, ${ordinalAfter(sql`0`, sql`f`)} as ordinal from (${next(sql`${after}::int`)}) f)
      union all
      select n.contract_id, ${ordinalAfter(sql`pending_contract.ordinal`, sql`n`)}
      from pending_contract cross join lateral (${next(sql`pending_contract.contract_id`)}) n
      where pending_contract.ordinal < ${contracts}::int
    ), next_contract as (
      select * from pending_contract p where not ${isPaused(sql`p`)}
    )
    select next_contract.contract_id as "contractId", k.address as contract, t.token_id as "tokenId",
           (${standardOf}) as standard, t.is_of_range as "isOfRange", ${unasked}, 0 as attempt,
           null::bigint as "lastPosition", null::bigint as "shownPosition", null as known
    from next_contract join log.contract k using (contract_id)
    cross join lateral (
      select u.token_id, u.contract_id, bool_and(u.is_of_range) as is_of_range
      from (
        (select p.token_id, p.contract_id, false as is_of_range from metadata.pending_token p
         where p.chain_id = ${chainId} and p.contract_id = next_contract.contract_id
         order by p.token_id desc ${first(tokensPerContract)})
        union all
        (${idsOfRanges(sql`next_contract.contract_id`)} ${first(tokensPerContract)})
      ) u
      group by u.token_id, u.contract_id
      order by u.token_id desc
      limit least(${tokensPerContract}::int, ceil(${limit}::float8 / (select count(*) from next_contract)))
    ) t
    order by next_contract.ordinal, t.token_id desc`.execute(session);
  return rows;
}

/** SQL: the ids of a contract's pending ranges, highest first, while the contract is due; one at a time, as far as a limit. */
function idsOfRanges(contractId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select generate_series(r.last_id, r.first_id, -1) as token_id, r.contract_id, true as is_of_range
    from (
      select r.* from metadata.pending_range r join metadata.pending_ranged_contract d using (chain_id, contract_id)
      where r.contract_id = ${contractId} order by r.last_id desc offset 0
    ) r`;
}

/** Contracts without metadata. */
export async function readPendingContracts(
  session: Session,
  { chainId, pausedContractIds }: DueFilter,
  limit: number,
): Promise<MetadataTarget[]> {
  const { rows } = await sql<MetadataTarget>`
    select p.contract_id as "contractId", k.address as contract, null::numeric as "tokenId", 721 as standard,
           false as "isOfRange", ${unasked}, 0 as attempt, null::bigint as "lastPosition", null::bigint as "shownPosition", null as known
    from metadata.pending_contract p join log.contract k using (contract_id)
    where p.chain_id = ${chainId} and p.contract_id <> all (${pausedContractIds}::int[])
    order by p.contract_id ${first(limit)}`.execute(session);
  return rows;
}

/** Tokens and contracts due to be fetched again, longest due first: at most `limit` of each. */
export async function readDueAgain(
  session: Session,
  { chainId, now, pausedContractIds }: DueFilter,
  limit: number,
): Promise<MetadataTarget[]> {
  const due = sql`
    t.chain_id = ${chainId} and t.due_at <= ${now} and t.contract_id <> all (${pausedContractIds}::int[])
    order by t.due_at ${first(limit)}`;
  const known = sql`case when d.status = 'ok' then f.payload end`;
  const { rows } = await sql<MetadataTarget>`
    (select d.contract_id as "contractId", k.address as contract, null::numeric as "tokenId", 721 as standard,
            false as "isOfRange", ${unasked}, d.attempt, d.last_position as "lastPosition",
            d.position as "shownPosition", ${known} as known
     from (select * from metadata.contract t where ${due}) d
     join log.contract k using (contract_id) join log.fact f on f.position = d.position)
    union all
    (select t.contract_id, k.address, t.token_id, (${standardOf}), false, ${unasked}, t.attempt, t.last_position, t.position, t.known
     from (
       select d.contract_id, d.token_id, d.attempt, d.last_position, d.position, ${known} as known
       from (select * from metadata.token t where ${due}) d join log.fact f on f.position = d.position
     ) t join log.contract k using (contract_id))`.execute(session);
  return rows;
}

const unasked = sql`false as "isUnpaid", null::bigint as "changedAt"`;

/** A contract that transferred an id in both standards is queried as an ERC-721. */
const standardOf = sql`
  select coalesce(min(o.standard), 721) from ${tokensAt(sql`t.contract_id`, sql`t.token_id`)} o`;

/** Whether the projection has reached `position`; false before its tables exist. */
export async function isMetadataAtLeastAt(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("metadata")} and position >= ${position}
  `.execute(session);
  return rows.length > 0;
}

/** A token that was fetched more recently is fetched again for nothing: the event paid for it long before. */
const paidAgainAfter = sql`interval '1 hour'`;

type ChangedFilter = DueFilter & {
  /** Whether of contracts that were ever sold from, or of all others. */
  isTraded: boolean;
  /** The last contract of the previous pass. */
  after: number;
  contracts: number;
  perContract: number;
};

/**
 * What contracts said to have changed and has not been fetched since, that read longest ago first: of the next contracts
 * after `after`. Of any range only the fetched tokens, so many at a time.
 */
export async function readChanged(
  session: Session,
  { chainId, now, pausedContractIds, isTraded, after, contracts, perContract }: ChangedFilter,
): Promise<MetadataTarget[]> {
  const nextOf = (last: unknown) => sql`
    select h.contract_id from metadata.change h
    where h.chain_id = ${chainId} and h.is_pending and h.contract_id > ${last}
    order by h.contract_id limit 1`;
  const isIncluded = (row: string) => sql`(
    ${sql.ref(`${row}.contract_id`)} <> all (${pausedContractIds}::int[]) and ${sql.lit(isTraded)} = exists (
      select from sales.total s
      where s.chain_id = ${chainId} and s.contract_id = ${sql.ref(`${row}.contract_id`)} and s.sales > 0))`;
  const { rows } = await sql<MetadataTarget>`
    with recursive changed_contract as (
      (select f.contract_id, ${isIncluded("f")} as is_included, ${isIncluded("f")}::int as ordinal
       from (${nextOf(sql`${after}::int`)}) f)
      union all
      select n.contract_id, i.is_included, changed_contract.ordinal + i.is_included::int
      from changed_contract cross join lateral (${nextOf(sql`changed_contract.contract_id`)}) n
      cross join lateral (select ${isIncluded("n")} as is_included) i
      where changed_contract.ordinal < ${contracts}::int
    )
    select t.contract_id as "contractId", k.address as contract, nullif(t.token_id, -1) as "tokenId",
           case when t.token_id = -1 then 721 else (${standardOf}) end as standard, false as "isOfRange",
           not t.is_single or last.recorded_at > ${now}::timestamptz - ${paidAgainAfter} as "isUnpaid",
           t.changed_at as "changedAt", t.attempt, t.last_position as "lastPosition", t.position as "shownPosition",
           case when t.status = 'ok' then f.payload end as known
    from changed_contract c
    cross join lateral (
      select c.contract_id, u.token_id, max(u.changed_at) as changed_at, bool_or(u.is_single) as is_single, u.read_at,
             u.attempt, u.last_position, u.position, u.status
      from (
        select h.* from metadata.change h
        where h.chain_id = ${chainId} and h.contract_id = c.contract_id and h.is_pending
        order by h.changed_at limit ${sql.lit(perContract)}
      ) h
      cross join lateral (${outdated(perContract)}) u
      group by u.token_id, u.read_at, u.attempt, u.last_position, u.position, u.status
      order by u.read_at, u.token_id limit ${sql.lit(perContract)}
    ) t
    join log.contract k on k.contract_id = t.contract_id
    join log.fact f on f.position = t.position join log.fact last on last.position = t.last_position
    where c.is_included
    order by t.contract_id, t.read_at, t.token_id`.execute(session);
  return rows;
}

/** SQL: what was fetched of a change `h`, and not since. */
function outdated(limit: number): RawBuilder<unknown> {
  const columns = sql`h.changed_at, h.last_id = h.first_id as is_single, t.read_at, t.attempt, t.last_position, t.position, t.status`;
  return sql`
    (select t.token_id, ${columns} from metadata.token t
     where t.contract_id = h.contract_id and t.token_id between h.first_id and h.last_id and t.read_at < h.changed_at
     order by t.read_at limit ${sql.lit(limit)})
    union all
    select -1, ${columns} from metadata.contract t
    where h.first_id = -1 and t.contract_id = h.contract_id and t.read_at < h.changed_at`;
}

/** Time between two requests for the same token. */
export const requestMinutes = 10;
const pause = sql`interval '1 minute' * ${sql.lit(requestMinutes)}`;

type TokenId = { chainId: number; contractId: number; tokenId: bigint };

/** When the request was taken, or, where one was within the last minutes, when that was. */
type RequestResult = { isTaken: boolean; requestedAt: Date };

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

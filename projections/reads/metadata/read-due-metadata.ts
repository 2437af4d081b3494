import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "#projections/log/database.ts";
import { tokensAt } from "#projections/engine/token-ids.ts";
import { schemaOf } from "#projections/log/versions.ts";

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
export const standardOf = sql`
  select coalesce(min(o.standard), 721) from ${tokensAt(sql`t.contract_id`, sql`t.token_id`)} o`;

/** Whether the projection has reached `position`; false before its tables exist. */
export async function isMetadataAtLeastAt(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("metadata")} and position >= ${position}
  `.execute(session);
  return rows.length > 0;
}

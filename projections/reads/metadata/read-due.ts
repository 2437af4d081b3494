import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../../database.ts";

/** A token, or with `tokenId` null a contract, whose metadata is to be fetched. */
export type DueSubject = {
  contractId: number;
  contract: Address;
  tokenId: bigint | null;
  standard: 721 | 1155;
  /** Attempts that failed since the last that did not. */
  attempt: number;
  /** Position of the last fact of it; null: there is none. */
  lastPosition: bigint | null;
  /** What the last fact that is ok says. */
  known: unknown;
};

export type Choice = {
  chainId: number;
  now: Date;
  /** Contracts that are left alone for now. */
  resting: readonly number[];
};

/**
 * Tokens that nothing is known of: the highest ids of each of the next contracts after `after`, in the order of their
 * ids, so that no contract keeps the others waiting. At most `contracts` contracts and about `limit` tokens.
 */
export async function readPendingTokens(
  session: Session,
  { chainId, resting }: Choice,
  { after, contracts, limit }: { after: number; contracts: number; limit: number },
): Promise<DueSubject[]> {
  const pending = sql`metadata.pending_token`;
  const next = (last: unknown) => sql`
    select p.contract_id from ${pending} p
    where p.chain_id = ${chainId} and p.contract_id > ${last} and p.contract_id <> all (${resting}::int[])
    order by p.contract_id limit 1`;
  const { rows } = await sql<DueSubject>`
    with recursive turn as (
      (select f.contract_id, 1 as place from (${next(sql`${after}::int`)}) f)
      union all
      select n.contract_id, turn.place + 1
      from turn cross join lateral (${next(sql`turn.contract_id`)}) n
      where turn.place < ${contracts}::int
    )
    select turn.contract_id as "contractId", k.address as contract, t.token_id as "tokenId",
           (${standardOf}) as standard, 0 as attempt, null::bigint as "lastPosition", null as known
    from turn join log.contract k using (contract_id)
    cross join lateral (
      select p.token_id, p.contract_id from ${pending} p
      where p.chain_id = ${chainId} and p.contract_id = turn.contract_id
      order by p.token_id desc
      limit ceil(${limit}::float8 / (select count(*) from turn))
    ) t
    order by turn.place, t.token_id desc`.execute(session);
  return rows;
}

/** Contracts that nothing is known of. */
export async function readPendingContracts(
  session: Session,
  { chainId, resting }: Choice,
  limit: number,
): Promise<DueSubject[]> {
  const { rows } = await sql<DueSubject>`
    select p.contract_id as "contractId", k.address as contract, null::numeric as "tokenId", 721 as standard,
           0 as attempt, null::bigint as "lastPosition", null as known
    from metadata.pending_contract p join log.contract k using (contract_id)
    where p.chain_id = ${chainId} and p.contract_id <> all (${resting}::int[])
    order by p.contract_id limit ${limit}`.execute(session);
  return rows;
}

/** Tokens and contracts that are to be fetched again, those that wait longest first: at most `limit` of each. */
export async function readDueAgain(
  session: Session,
  { chainId, now, resting }: Choice,
  limit: number,
): Promise<DueSubject[]> {
  const due = sql`
    t.chain_id = ${chainId} and t.due_at <= ${now} and t.contract_id <> all (${resting}::int[])
    order by t.due_at limit ${limit}`;
  const known = sql`case when d.status = 'ok' then f.payload end`;
  const { rows } = await sql<DueSubject>`
    (select d.contract_id as "contractId", k.address as contract, null::numeric as "tokenId", 721 as standard,
            d.attempt, d.last_position as "lastPosition", ${known} as known
     from (select * from metadata.contract t where ${due}) d
     join log.contract k using (contract_id) join log.fact f on f.position = d.position)
    union all
    (select t.contract_id, k.address, t.token_id, (${standardOf}), t.attempt, t.last_position, t.known
     from (
       select d.contract_id, d.token_id, d.attempt, d.last_position, ${known} as known
       from (select * from metadata.token t where ${due}) d join log.fact f on f.position = d.position
     ) t join log.contract k using (contract_id))`.execute(session);
  return rows;
}

/** A contract that moved an id by both standards is asked as an ERC-721. */
const standardOf = sql`
  select coalesce(min(o.standard), 721) from ownership.token o
  where o.contract_id = t.contract_id and o.token_id = t.token_id`;

/** Whether the metadata stands at `position` or beyond; false before its tables are made. */
export async function hasMetadataReached(session: Session, position: bigint): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection = 'metadata' and position >= ${position}
  `.execute(session);
  return rows.length > 0;
}

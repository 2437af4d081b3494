import { type RawBuilder, sql } from "kysely";
import type { Session } from "#projections/log/database.ts";
import { type DueFilter, type MetadataTarget, standardOf } from "./read-due-metadata.ts";

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

import { sql } from "kysely";
import type { Database } from "#projections/database.ts";
import { argumentsOf, type DecodedEvent, type EventSelection } from "./ponder-events.ts";
import { createsPool, isOfKnownPool, isPaidInPoolCoin, isPaidInPoolCoinSql, isPoolCreation, type PoolCoins, recordedFactory } from "./pool-events.ts";

/** Reads what pools are paid in, of each. Throws when the chain does not answer. */
export type PoolCoinReader = (pools: readonly string[]) => Promise<PoolCoins>;

/**
 * What the pools are paid in that have selected events which the log does not hold. A pool that no factory created is not
 * asked: its code is anybody's.
 */
export async function readMissingPoolCoins(
  db: Database,
  schema: string,
  { after, upTo, blockHashes, condition }: EventSelection,
  read: PoolCoinReader,
): Promise<PoolCoins> {
  const { rows } = await sql<{ pool: string }>`
    with selected as materialized (
      select event.* from ${sql.table(`${schema}.event`)} event
      where event.id > ${after} and event.id <= ${upTo} and event.block_hash = any (${blockHashes}::text[])
        and (${isPaidInPoolCoinSql(sql`event.source`)} or ${createsPool(sql`event.source`)}) and ${condition}
    ), created as materialized (
      select ${argumentsOf(sql`event.args`)} ->> 'pool' as pool from selected event
      where ${createsPool(sql`event.source`)}
    )
    select distinct event.address as pool from selected event
    left join log.block b on b.chain_id = event.chain_id and b.hash = decode(substr(event.block_hash, 3), 'hex')
    where ${isPaidInPoolCoinSql(sql`event.source`)} and ${isOfKnownPool("event")}
      and not exists (
        select from log.fact f
        where f.block_id = b.block_id and f.log_index = event.log_index and f.sub_index = 0
      )
    order by 1`.execute(db);
  return rows.length === 0 ? {} : await read(rows.map(({ pool }) => pool));
}

/** The same of events that were fetched from the chain. */
export async function readPoolCoinsOf(
  db: Database,
  events: readonly DecodedEvent[],
  read: PoolCoinReader,
): Promise<PoolCoins> {
  const created = events.flatMap(({ source, args }) => (isPoolCreation(source) ? args.pool : []));
  const pools = events.filter(({ source }) => isPaidInPoolCoin(source));
  if (pools.length === 0) return {};
  const refs = pools.map(({ chainId: chain_id, address }) => ({ chain_id, address }));
  const { rows } = await sql<{ pool: string }>`
    select distinct e.address as pool
    from jsonb_to_recordset(${JSON.stringify(refs)}::jsonb) as e (chain_id integer, address text)
    where e.address = any (${created}::text[]) or ${recordedFactory("e")} is not null
    order by 1`.execute(db);
  return rows.length === 0 ? {} : await read(rows.map(({ pool }) => pool));
}

import { type RawBuilder, sql } from "kysely";
import { kindLiteral } from "../fact-kind-sql.ts";
import { logHead } from "../read-log-head.ts";

/**
 * Anyone can emit what a pool emits. An event of a pool is stored with the factory that created the pool, which the
 * factory's own event told before.
 */
const poolSources = [
  ...["SudoswapV1", "SudoswapV2", "SudoswapV2Erc1155", "SudoswapV2Royalty"],
  ...["SudoswapV2Erc1155Royalty", "NftxV2", "NftxV3"],
];

const factorySources = [
  ...["SudoswapV1Factory", "SudoswapV2Factory", "NftxV2Factory", "NftxV3Factory"],
  "NftxV3NamedFactory",
];

/** Pools that are paid in a coin of their own, which neither their events nor the factory's name. */
const sourcesPaidInPoolCoin = [
  "SudoswapV2",
  "SudoswapV2Erc1155",
  "SudoswapV2Royalty",
  "SudoswapV2Erc1155Royalty",
];

/** Whether an event, by its source, is of a pool that is paid in a coin of its own. */
export const isPaidInPoolCoin = (source: string): boolean => sourcesPaidInPoolCoin.includes(source);

/** SQL: the same. */
export const isPaidInPoolCoinSql = (source: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${source} = any (${sourcesPaidInPoolCoin}::text[])`;

/** What pools are paid in, by address: a coin, the zero address for ether, null where a pool says none. */
export type PoolCoins = Readonly<Record<string, string | null>>;

/** Whether an event, by its source, creates a pool. */
export const isPoolCreation = (source: string): boolean => factorySources.includes(source);

/** SQL: the same. */
export const createsPool = (source: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${source} = any (${factorySources}::text[])`;

/** The pools that events to be staged create: `pool`, `factory`. Of rows of such events, with the arguments `a`. */
export const createdPools = (creations: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select distinct on (a ->> 'pool') a ->> 'pool' as pool, address as factory from (${creations}) creation`;

/** SQL: whether an event, by its source, is of a pool. */
export const isOfPool = (source: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${source} = any (${poolSources}::text[])`;

/** SQL: the factory that created the pool of an event, as the log says; null if none did. */
export const recordedFactory = (event: string): RawBuilder<string | null> => sql`(
  select '0x' || encode(c.address, 'hex')
  from log.fact f join log.contract c using (contract_id)
  where f.kind = ${kindLiteral("pool_created")}
    and f.to_address = decode(substr(${sql.ref(`${event}.address`)}, 3), 'hex')
    and c.chain_id = ${sql.ref(`${event}.chain_id`)}
    and f.block_id not in (select r.block_id from log.retracted_blocks(${logHead}) r)
  order by f.block_id limit 1)`;

/** SQL: whether a factory created the pool of an event, as `created`, the `pool` of events beside it, or the log says. */
export const isOfKnownPool = (event: string): RawBuilder<boolean> => sql<boolean>`(
  ${sql.ref(`${event}.address`)} in (select pool from created) or ${recordedFactory(event)} is not null)`;

/** Rows of `PoolCoins`: `pool`, `coin`. */
export const poolCoinRows = (coins: PoolCoins): RawBuilder<unknown> => sql`
  select key as pool, value as coin from jsonb_each(${JSON.stringify(coins)}::jsonb)`;

/**
 * SQL: `{"factory", "coin"}` of `e`, a row of events to be staged, with `created`, a row of `createdPools`, and `paid`, one
 * of `poolCoinRows`; null for others.
 */
export const poolOrigin = sql`
  case when ${isOfPool(sql`e.source`)} then
    jsonb_build_object('factory', coalesce(created.factory, ${recordedFactory("e")}))
      || case when ${isPaidInPoolCoinSql(sql`e.source`)} and paid.pool is not null
              then jsonb_build_object('coin', paid.coin) else '{}' end
  end`;

import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { blockIdRange } from "../log/blocks.ts";
import { bytea } from "../log/sql-values.ts";
import type { RequestedTrait, TraitKeys } from "../traits/read-tokens-with-traits.ts";

export type SalesFilter = {
  chainId: number;
  /** null: the whole chain. */
  contractIds: readonly number[] | null;
  tokenId: bigint | null;
  /** Traits that the token must have, and the keys of each, any of them; without contracts of the whole chain. */
  traits: readonly RequestedTrait[];
  traitKeys: TraitKeys;
  trade: TradeFilter;
};

/** Filters of the trade itself; null: any. */
export type TradeFilter = {
  buyer: Hex | null;
  seller: Hex | null;
  /** On either side. */
  wallet: Hex | null;
  marketplace: string | null;
  /** The exchange. */
  protocol: string | null;
  /** Zero address: the native currency. */
  currency: Hex | null;
  /** From this time on. */
  since: Date | null;
  /** Before this time. */
  until: Date | null;
};

export const anyTrade: TradeFilter = {
  buyer: null,
  seller: null,
  wallet: null,
  marketplace: null,
  protocol: null,
  currency: null,
  since: null,
  until: null,
};

/** Whether sales are filtered by who traded: they are found by the wallet's own indexes. */
export function namesParty({ buyer, seller, wallet }: TradeFilter): boolean {
  return buyer !== null || seller !== null || wallet !== null;
}

export function isFiltered(filter: TradeFilter): boolean {
  const { marketplace, protocol, currency, since, until } = filter;
  return (
    [marketplace, protocol, currency, since, until].some((one) => one !== null) ||
    namesParty(filter)
  );
}

/** SQL: whether sale `s` matches, apart from its times and `wallet`. */
export function matchesTrade(filter: TradeFilter): RawBuilder<unknown> {
  const { buyer, seller, marketplace, protocol, currency } = filter;
  const addresses = { buyer, seller, currency };
  const equal = Object.entries(addresses).map(([column, address]) =>
    address === null ? sql`` : sql`and ${sql.ref(`s.${column}`)} = ${bytea(address)}`,
  );
  const ofMarketplace = marketplace === null ? sql`` : sql`and s.marketplace = ${marketplace}`;
  const ofProtocol = protocol === null ? sql`` : sql`and s.protocol = ${protocol}`;
  return sql`true ${sql.join(equal, sql` `)} ${ofMarketplace} ${ofProtocol}`;
}

/** SQL: whether sale `s` is of the times. */
export function isWithin({ since, until }: Pick<TradeFilter, "since" | "until">) {
  const from = since === null ? sql`` : sql`and s.timestamp >= ${since.toISOString()}::timestamptz`;
  const to = until === null ? sql`` : sql`and s.timestamp < ${until.toISOString()}::timestamptz`;
  return sql`true ${from} ${to}`;
}

/**
 * SQL: `isWithin` as a range of blocks, by which lists are sorted. `isAfterCursor`: the cursor bounds the range from above,
 * and with a second bound an index scan would begin there.
 */
export function blocksWithin(
  chainId: number,
  { since, until }: TradeFilter,
  isAfterCursor: boolean,
): RawBuilder<unknown> {
  const block = (condition: RawBuilder<unknown>, direction: RawBuilder<unknown>) => sql`(
    select b.block_id from sales.sale b where b.chain_id = ${chainId} and ${condition}
    order by b.timestamp ${direction}, b.block_id ${direction} limit 1
  )`;
  const from =
    since === null
      ? sql``
      : sql`and s.block_id >= ${block(sql`b.timestamp >= ${since.toISOString()}::timestamptz`, sql`asc`)}`;
  const to =
    until === null || isAfterCursor
      ? sql``
      : sql`and s.block_id <= ${block(sql`b.timestamp < ${until.toISOString()}::timestamptz`, sql`desc`)}`;
  return sql`true ${from} ${to}`;
}

/** Position of a sale in the order of its chain. */
export type SaleKey = { blockId: bigint; transactionIndex: number; ordinal: number };

export const newestFirst = sql`order by s.block_id desc, s.transaction_index desc, s.ordinal desc`;

/**
 * The same order, written as only the indexes by marketplace and by currency have it. The planner knows nothing of
 * values that its sample of the table has not met; it would take the primary key for them and read the whole chain.
 */
export const newestFirstOfFew = sql`
  order by s.block_id desc nulls last, s.transaction_index desc, s.ordinal desc`;

/** In `sales.total`: the contract id that stands for all contracts of a chain. */
export const wholeChain = 0;

/**
 * SQL: sales of the chain, after the cursor. A second upper bound beside the cursor's would make the index scan start
 * there and read all rows up to the cursor.
 */
export function olderInChain(chainId: number, after: SaleKey | null): RawBuilder<unknown> {
  const chain = blockIdRange(chainId);
  const below = after === null ? sql`and s.block_id < ${chain.to}` : olderThan(after);
  return sql`s.block_id >= ${chain.from} ${below}`;
}

export function olderThan(after: SaleKey | null): RawBuilder<unknown> {
  if (after === null) return sql``;
  return sql`
    and (s.block_id, s.transaction_index, s.ordinal)
        < (${after.blockId}, ${after.transactionIndex}, ${after.ordinal})`;
}

import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import { bytea } from "#projections/log/sql-values.ts";

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

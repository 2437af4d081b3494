import { type RawBuilder, sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import type { Window } from "#projections/engine/projection.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { isOpen } from "#projections/order-state/status-sql.ts";
import { byteaArray } from "#projections/log/sql-values.ts";

type Bidder = { maker: Address };

/** Accounts with open bids on a chain, in ascending order after one. */
export async function readBidders(
  db: Database,
  chainId: number,
  after: Address | null,
  limit: number,
): Promise<Address[]> {
  const next = (condition: RawBuilder<unknown>) => sql`
    select o.maker from bids.bid o where o.chain_id = ${chainId} and ${isOpen} and ${condition}
    order by o.maker limit 1`;
  const isAfter = after === null ? sql`true` : sql`o.maker > decode(${after.slice(2)}, 'hex')`;
  // A loose index scan: an account may have thousands of bids.
  const { rows } = await sql<Bidder>`
    with recursive bidder as (
      (${next(isAfter)})
      union all
      select (${next(sql`o.maker > b.maker`)}) from bidder b where b.maker is not null
    )
    select maker from bidder where maker is not null limit ${limit}`.execute(db);
  return rows.map(({ maker }) => maker);
}

/** Those of `accounts` (lower case) that have open bids on a chain. */
export async function readBiddersAmong(
  db: Database,
  chainId: number,
  accounts: readonly Address[],
): Promise<Address[]> {
  if (accounts.length === 0) return [];
  const { rows } = await sql<Bidder>`
    select account as maker from unnest(${byteaArray(accounts)}) account
    where exists (select from bids.bid o where o.maker = account and o.chain_id = ${chainId} and ${isOpen})`.execute(
    db,
  );
  return rows.map(({ maker }) => maker);
}

/** Accounts whose bids on a chain were submitted in a window of the log. */
export async function readNewBidders(
  db: Database,
  chainId: number,
  { after, upTo }: Window,
): Promise<Address[]> {
  const { rows } = await sql<Bidder>`
    select distinct f.from_address as maker from log.fact f join log.contract k using (contract_id)
    where f.position > ${after} and f.position <= ${upTo} and f.kind = ${kindLiteral("order_submitted")}
      and f.payload #>> '{terms,side}' = 'bid' and k.chain_id = ${chainId}`.execute(db);
  return rows.map(({ maker }) => maker);
}

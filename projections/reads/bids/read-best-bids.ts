import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { bytea, byteaArray } from "#projections/log/sql-values.ts";
import { collectionJoins, hasEnded } from "../orders/order-columns.ts";
import { type BidRow, bidColumns } from "./read-bid.ts";

/** `limit` for each kind of bids; `except`: none of these orders. */
type Limits = { limit: number; except?: readonly Hex[] };

/** `readBestBidsOf` the contract at an address, for a seller; none for an unknown contract. */
export async function readBestBids(
  db: Database,
  {
    chainId,
    contract,
    tokenId,
    seller,
  }: {
    chainId: number;
    contract: Address;
    tokenId: bigint;
    seller: Address;
  },
  limits: Limits,
  now: Date,
): Promise<BidRow[]> {
  const { rows } = await sql<{ contractId: number }>`
    select contract_id as "contractId" from log.contract
    where chain_id = ${chainId} and address = ${bytea(contract)}`.execute(db);
  const [known] = rows;
  return known === undefined ? [] : readBestBidsOf(db, { ...known, tokenId, seller }, limits, now);
}

/**
 * Active bids that a token's holder can accept, by net proceeds: at most `limit` on the token and as many on its
 * whole contract. Ties: bids on the token first, then older ones. A seller's own bids are left out.
 */
export async function readBestBidsOf(
  db: Database,
  { contractId, tokenId, seller }: { contractId: number; tokenId: bigint; seller?: Address },
  { limit, except = [] }: Limits,
  now: Date,
): Promise<BidRow[]> {
  const isOther =
    except.length === 0 ? sql`` : sql`and o.order_hash <> all (${byteaArray(except)})`;
  const ofOthers = seller === undefined ? sql`` : sql`and o.maker <> ${bytea(seller)}`;
  const active = sql`
    o.contract_id = ${contractId} and o.status = 'active' and not ${hasEnded(now)} ${ofOthers} ${isOther}`;
  const bestFirst = sql`order by o.seller_net_wei desc, o.position limit ${limit}`;
  const { rows } = await sql<BidRow>`
    with best as (
      (select o.* from bids.bid o where ${active} and o.token_id = ${tokenId} ${bestFirst})
      union all
      (select o.* from bids.bid o where ${active} and o.token_id is null ${bestFirst})
    )
    select ${bidColumns(now)} from best o ${collectionJoins}
    order by o.seller_net_wei desc, o.token_id is null, o.position`.execute(db);
  return rows;
}

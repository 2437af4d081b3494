import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "../../database.ts";
import { hasEnded, naming } from "../orders/read-shown.ts";
import { type BidRow, bidColumns } from "./read.ts";

/** `readBestBidsOf` the contract at an address; none of one that the log does not know. */
export async function readBestBids(
  db: Database,
  chainId: number,
  contract: Address,
  tokenId: bigint,
  limit: number,
  now: Date,
): Promise<BidRow[]> {
  const { rows } = await sql<{ contractId: number }>`
    select contract_id as "contractId" from log.contract
    where chain_id = ${chainId} and address = decode(${contract.slice(2)}, 'hex')`.execute(db);
  const [named] = rows;
  return named === undefined ? [] : readBestBidsOf(db, named.contractId, tokenId, limit, now);
}

/**
 * Active bids that a token's holder can take, the one that nets most first: at most `limit` of those on the token
 * and as many of those on its whole contract. Of equal ones the token's own goes first, then the older.
 */
export async function readBestBidsOf(
  db: Database,
  contractId: number,
  tokenId: bigint,
  limit: number,
  now: Date,
): Promise<BidRow[]> {
  const active = sql`o.contract_id = ${contractId} and o.status = 'active' and not ${hasEnded(now)}`;
  const bestFirst = sql`order by o.seller_net_wei desc, o.position limit ${limit}`;
  const { rows } = await sql<BidRow>`
    with best as (
      (select o.* from bids.bid o where ${active} and o.token_id = ${tokenId} ${bestFirst})
      union all
      (select o.* from bids.bid o where ${active} and o.token_id is null ${bestFirst})
    )
    select ${bidColumns(now)} from best o ${naming}
    order by o.seller_net_wei desc, o.token_id is null, o.position`.execute(db);
  return rows;
}

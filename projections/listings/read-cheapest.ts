import { sql } from "kysely";
import type { Database } from "../database.ts";
import { hasEnded, naming } from "../orders/read-shown.ts";
import { type ListingRow, listingColumns } from "./read.ts";

/** The token's active listing that costs least per unit; of equal ones the older. */
export async function readCheapestListing(
  db: Database,
  contractId: number,
  tokenId: bigint,
  now: Date,
): Promise<ListingRow | null> {
  const { rows } = await sql<ListingRow>`
    with cheapest as (
      select o.* from listings.listing o
      where o.contract_id = ${contractId} and o.token_id = ${tokenId} and o.status = 'active'
        and not ${hasEnded(now)}
      order by o.unit_price_wei, o.position limit 1
    )
    select ${listingColumns(now)} from cheapest o ${naming}`.execute(db);
  return rows[0] ?? null;
}

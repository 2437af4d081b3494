import { sql } from "kysely";
import type { Session } from "../database.ts";
import { hasEnded, naming } from "../orders/read-shown.ts";
import { askedTokens, nameOfToken, type TokenPlace } from "../token-place.ts";
import { type ListingRow, listingColumns } from "./read.ts";

/** Of each token, by its name, the active listing that costs least per unit; of equal ones the older. */
export async function readCheapestListings(
  db: Session,
  places: readonly TokenPlace[],
  now: Date,
): Promise<Map<string, ListingRow>> {
  const { rows } = await sql<ListingRow>`
    with cheapest as (
      select o.* from ${askedTokens(places)} cross join lateral (
        select o.* from listings.listing o
        where o.contract_id = asked.contract_id and o.token_id = asked.token_id and o.status = 'active'
          and not ${hasEnded(now)}
        order by o.unit_price_wei, o.position limit 1
      ) o
    )
    select ${listingColumns(now)} from cheapest o ${naming}`.execute(db);
  return new Map(rows.map((row) => [nameOfToken(row), row]));
}

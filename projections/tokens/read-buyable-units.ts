import { sql } from "kysely";
import type { Hex } from "viem";
import { collectionJoins, hasEnded, ofStatus } from "#projections/orders/read-orders.ts";
import type { Database } from "../log/database.ts";
import { bytea, byteaArray } from "../log/sql-values.ts";
import { type ListingRow, listingColumns } from "../orders/read-listings.ts";
import { hasTraits, type TraitKeys } from "../traits/read-tokens-with-traits.ts";

/** A listing that can be bought, and whether only all of its units can. */
export type CheapestListing = ListingRow & { isFilledWhole: boolean };

type CheapestFilter = {
  contractIds: readonly number[];
  /** All of which a token must have. */
  traitKeys: TraitKeys;
  /** Null: of any. */
  orderHashes: readonly Hex[] | null;
  /** Null: native and wrapped. */
  currency: "native" | "wrapped" | null;
  /** Whose listings are left out. */
  buyer: Hex;
};

/** The cheapest active listings per unit, of all marketplaces, that are not the buyer's own; of equal ones the oldest first. */
export async function readBuyableUnits(
  db: Database,
  { contractIds, traitKeys, orderHashes, currency, buyer }: CheapestFilter,
  limit: number,
  now: Date,
): Promise<CheapestListing[]> {
  const ofOrders =
    orderHashes === null ? sql`` : sql`and o.order_hash = any (${byteaArray(orderHashes)})`;
  const paid = { native: sql`and o.currency is null`, wrapped: sql`and o.currency is not null` };
  const bestFirst = sql`order by o.unit_price_wei, o.position limit ${limit}`;
  const { rows } = await sql<CheapestListing>`
    with cheapest as materialized (
      select o.* from unnest(${contractIds}::int[]) wanted (contract_id)
      cross join lateral (
        select o.* from listings.listing o
        where o.contract_id = wanted.contract_id and ${ofStatus("active")} and o.is_buyable and not ${hasEnded(now)}
          and o.maker <> ${bytea(buyer)} and o.fillable > 0 ${currency === null ? sql`` : paid[currency]} ${ofOrders}
          and ${hasTraits("o", traitKeys)}
        ${bestFirst}
      ) o
      ${bestFirst}
    )
    select ${listingColumns(now, new Set())}, o.is_filled_whole as "isFilledWhole"
    from cheapest o ${collectionJoins} order by o.unit_price_wei, o.position`.execute(db);
  return rows;
}

import { type RawBuilder, sql } from "kysely";

/**
 * What the books say of a family's contracts `c`, as one row: `floor_wei`, `floor`, `floor_buyable`, `best_offer`, and
 * `best_ends_at` of the last. `standing` is a condition on an active order `o`.
 */
export function bookFigures(
  contracts: RawBuilder<unknown>,
  standing: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const cheapest = (where: RawBuilder<unknown>) => sql`
    select o.unit_price_wei, ${shownListing} as shown
    from ${contracts} cross join lateral (
      select o.* from listings.listing o
      where o.contract_id = c.contract_id and o.status = 'active' and ${standing} and ${where}
      order by o.unit_price_wei, o.position limit 1
    ) o
    order by o.unit_price_wei, o.position limit 1`;
  return sql`
    select floor.unit_price_wei as floor_wei, floor.shown as floor, buyable.shown as floor_buyable,
           offer.shown as best_offer, offer.end_time as best_ends_at
    from (select) one
    left join lateral (${cheapest(sql`true`)}) floor on true
    left join lateral (${cheapest(sql`o.is_buyable`)}) buyable on floor.shown is not null
    left join lateral (
      select o.end_time, ${shownBid} as shown
      from ${contracts} cross join lateral (
        select o.* from bids.bid o
        where o.contract_id = c.contract_id and o.token_id is null and o.status = 'active' and ${standing}
        order by o.seller_net_wei desc, o.position limit 1
      ) o
      order by o.seller_net_wei desc, o.position limit 1
    ) offer on true`;
}

/** The contracts `c` of family `f`. */
export const contractsOf = sql`
  (select c.contract_id from collection_stats.contract c where c.collection_id = f.collection_id) c`;

/** Of `StoredFloor`. */
const shownListing = sql`
  jsonb_build_object('priceWei', o.unit_price_wei::text, 'orderHash', '0x' || encode(o.order_hash, 'hex'),
                     'tokenId', o.token_id::text, 'marketplace', o.marketplace, 'isBuyable', o.is_buyable)`;

/** Of `StoredOffer`. */
const shownBid = sql`
  jsonb_build_object('priceWei', o.unit_price_wei::text, 'sellerNetWei', o.seller_net_wei::text,
                     'orderHash', '0x' || encode(o.order_hash, 'hex'))`;

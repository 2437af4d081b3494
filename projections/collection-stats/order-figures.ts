import { type RawBuilder, sql } from "kysely";

/**
 * SQL: the order figures of a collection's contracts `c` as one row: `floor_wei`, `floor`, `floor_buyable`, `best_offer`
 * and the end time of the last, `best_ends_at`. `isCurrent` is a condition on an active order `o`.
 */
export function orderFigures(
  contracts: RawBuilder<unknown>,
  isCurrent: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const cheapest = (where: RawBuilder<unknown>) => sql`
    select o.unit_price_wei, ${listingJson} as shown
    from ${contracts} cross join lateral (
      select o.* from listings.listing o
      where o.contract_id = c.contract_id and o.status = 'active' and ${isCurrent} and ${where}
      order by o.unit_price_wei, o.position limit 1
    ) o
    order by o.unit_price_wei, o.position limit 1`;
  return sql`
    select floor.unit_price_wei as floor_wei, floor.shown as floor, buyable.shown as floor_buyable,
           offer.shown as best_offer, offer.end_time as best_ends_at
    from (select) one
    left join lateral (${cheapest(sql`true`)}) floor on true
    left join lateral (${cheapest(sql`o.is_buyable and floor.shown is not null`)}) buyable on true
    left join lateral (
      select o.end_time, ${bidJson} as shown
      from ${contracts} cross join lateral (
        select o.* from bids.bid o
        where o.contract_id = c.contract_id and o.token_id is null and o.status = 'active' and ${isCurrent}
        order by o.seller_net_wei desc, o.position limit 1
      ) o
      order by o.seller_net_wei desc, o.position limit 1
    ) offer on true`;
}

/** SQL: the contracts `c` of collection `f`. */
export const contractsOf = sql`
  (select c.contract_id from collection_stats.contract c where c.collection_id = f.collection_id) c`;

/** SQL: a `FloorListing`. */
const listingJson = sql`
  jsonb_build_object('priceWei', o.unit_price_wei::text, 'orderHash', '0x' || encode(o.order_hash, 'hex'),
                     'contract', (select '0x' || encode(k.address, 'hex') from log.contract k where k.contract_id = o.contract_id),
                     'tokenId', o.token_id::text, 'marketplace', o.marketplace, 'isBuyable', o.is_buyable,
                     'currency', '0x' || encode(o.currency, 'hex'))`;

/** SQL: a `BestOffer`. */
const bidJson = sql`
  jsonb_build_object('priceWei', o.unit_price_wei::text, 'sellerNetWei', o.seller_net_wei::text,
                     'orderHash', '0x' || encode(o.order_hash, 'hex'))`;

import { sql } from "kysely";
import { mostFolded } from "../engine/fold-budget.ts";
import { retractedCte } from "../engine/point.ts";
import type { PastTraits } from "../traits/read-traits.ts";
import type { Moment } from "./moment.ts";
import { foldedOwners, ownedCtes } from "./owned-tokens.ts";
import { activeThen, pastListings } from "./read-past-listings.ts";

/** Traits of contracts at a moment, as today's documents tell them: which of the tokens there were, and which were listed. */
export function pastTraits(contractIds: readonly number[], moment: Moment): PastTraits {
  const { point } = moment;
  const all = { contractIds, tokenId: null, maker: null, marketplace: null };
  const asks = pastListings(all, moment);
  return {
    ctes: sql`
      open_then as materialized (${activeThen(asks, moment)}), ${retractedCte(point)},
      subject as materialized (
        select contract_id, token_id from traits.token where contract_id = any (${contractIds}::int[])
        limit ${mostFolded + 1}
      ), ${ownedCtes(point)},
      listed_then as materialized (
        select distinct on (contract_id, token_id) o.* from open_then o join past_token t using (contract_id, token_id)
        where t.standard = o.standard order by contract_id, token_id, o.unit_price_wei, o.position
      ), past_trait as materialized (
        select d.match_key, d.type, d.type_key, d.value, d.is_numeric, v.*
        from (${traitsThen}) v join traits.trait d using (contract_id, trait_key)
      ), expired_token as (
        select contract_id, token_id from subject where false
      ), replacement_listing as (
        select contract_id, token_id, unit_price_wei, position from open_then where false
      )`,
    traits: sql`past_trait`,
    listings: sql`listed_then`,
    folded: sql`greatest((select max(folded) from open_then), (select count(*)::int from subject), ${foldedOwners})`,
  };
}

const cheapestFirst = sql`order by l.unit_price_wei, l.position) filter (where l.order_hash is not null`;

const traitsThen = sql`
  select contract_id, u.trait_key, count(*) filter (where not p.is_burned) as live, count(l.order_hash) as listed,
         min(l.unit_price_wei) as floor_wei, (array_agg(l.position ${cheapestFirst}))[1] as floor_position,
         (array_agg(l.token_id ${cheapestFirst}))[1] as floor_token
  from traits.token t
  join past_token p using (contract_id, token_id)
  left join listed_then l using (contract_id, token_id)
  cross join unnest(t.trait_keys) u (trait_key)
  group by contract_id, u.trait_key`;

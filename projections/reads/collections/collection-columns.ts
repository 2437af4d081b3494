import { type RawBuilder, sql } from "kysely";
import { bookFigures, contractsOf } from "../../collection-stats/book-figures.ts";
import { periods, tradedColumns } from "../../collection-stats/periods.ts";
import { partnerRoyalty } from "../../collections/creator-fees.ts";
import { hasEnded, unixSeconds } from "../orders/read-shown.ts";

/** Of family `f` joined with `naming`. */
export function columns(now: Date): RawBuilder<unknown> {
  const figures = [...tradedColumns, ...periods.map((period) => `change_${period}`)];
  const shown = (column: string) =>
    sql`case when ${hasTurned(now)} then live.${sql.ref(column)} else f.${sql.ref(column)} end`;
  return sql`
    f.sort_key as "sortKey", f.collection_id as "collectionId", f.chain_id as "chainId", k.address, c.slug, c.name,
    c.symbol, c.standard, f.verified, c.created_at as "createdAt", c.updated_at as "updatedAt", made.contracts,
    md.description, md.image, md.banner, md.website, md.twitter, md.discord,
    coalesce(due.recipient, c.royalty_recipient) as recipient, coalesce(due.bps, c.royalty_bps) as bps,
    due.recipient is not null as "fromPartner", f.supply, f.holders,
    f.listed - coalesce(ended.tokens, 0) as listed, ${shown("floor")} as floor,
    ${shown("floor_buyable")} as "floorBuyable", ${shown("best_offer")} as "bestOffer",
    ${sql.join(figures.map((figure) => sql`f.${sql.id(figure)}`))}`;
}

/** The clock of the tables is that of the last tick: what an order of family `f` may have ended since is read anew. */
const hasTurned = (now: Date) => sql`f.turns_at <= ${unixSeconds(now)}::bigint`;

export function naming(now: Date): RawBuilder<unknown> {
  return sql`
    left join collections.collection c on c.collection_id = f.collection_id
    left join log.contract k on k.contract_id = f.collection_id
    left join metadata.contract md on md.contract_id = f.collection_id
    left join lateral (${partnerRoyalty(sql`f.collection_id`)}) due on true
    left join lateral (
      select jsonb_agg(jsonb_build_object('address', '0x' || encode(a.address, 'hex'), 'standard', m.standard)
                       order by m.contract_id <> f.collection_id, m.contract_id) as contracts
      from collections.member m join log.contract a using (contract_id) where m.collection_id = f.collection_id
    ) made on true
    left join lateral (${whereTurned(bookFigures(contractsOf, sql`not ${hasEnded(now)}`), now)}) live on true
    left join lateral (${whereTurned(endedTokens(now), now)}) ended on true`;
}

/** What is read of family `f` only where something has ended: a condition of the join would be asked afterwards. */
function whereTurned(read: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
    select told.* from (select where ${hasTurned(now)} offset 0) turned cross join lateral (${read} offset 0) told`;
}

/** Tokens of family `f` that count as listed, though the last of their listings has ended. */
function endedTokens(now: Date): RawBuilder<unknown> {
  return sql`
    select count(*) as tokens
    from collection_stats.contract n join collection_stats.token t using (contract_id)
    where n.collection_id = f.collection_id and t.is_listed and t.turns_at <= ${unixSeconds(now)}::bigint
      and not exists (
        select from listings.listing o
        where o.contract_id = t.contract_id and o.token_id = t.token_id and o.status = 'active'
          and not ${hasEnded(now)}
      )`;
}

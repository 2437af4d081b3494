import { type RawBuilder, sql } from "kysely";
import { contractsOf, orderFigures } from "#projections/collection-stats/order-figures.ts";
import { periods, salesColumns } from "#projections/collection-stats/periods.ts";
import { documentStart } from "#projections/sql/document-start.ts";
import { hasEnded, unixSeconds } from "../orders/order-columns.ts";
import { contractRoyalty, operatorRoyalty, partnerRoyalty } from "./partner-royalty.ts";

/**
 * What of a collection is wanted: metadata of its primary contract, royalty, list of contracts, floor and best offer. The
 * rest is null, and not looked up. Without `documents` only the beginnings of those that are stored inline.
 */
export type CollectionPart = "documents" | "metadata" | "royalty" | "contracts" | "orders";
export type CollectionParts = ReadonlySet<CollectionPart>;
export const allCollectionParts: CollectionParts = new Set([
  "documents",
  "metadata",
  "royalty",
  "contracts",
  "orders",
]);
/** What lists show. */
export const listedCollectionParts: CollectionParts = new Set(
  [...allCollectionParts].filter((part) => part !== "documents"),
);

/** SQL: the columns of `FlatRow`, of a collection's figures `f` with `collectionJoins`. */
export function columns(now: Date, parts: CollectionParts): RawBuilder<unknown> {
  const figures = [...salesColumns, ...periods.map((period) => `change_${period}`)];
  const current = (column: string) =>
    sql`case when ${mayHaveChanged(now)} then live.${sql.ref(column)} else f.${sql.ref(column)} end`;
  const uri = parts.has("documents") ? (column: RawBuilder<unknown>) => column : documentStart;
  return sql`
    f.next_change_at as "nextChangeAt", f.collection_id as "collectionId", f.chain_id as "chainId", k.address, c.slug, c.name,
    c.symbol, c.standard, f.verified, c.created_at as "createdAt", c.updated_at as "updatedAt", coalesce(parts.contracts, '[]'::jsonb) as contracts,
    md.description, ${uri(sql`md.image`)} as image, ${uri(sql`md.banner`)} as banner, md.website, md.twitter, md.discord,
    decided.recipient as "decidedRecipient", decided.bps as "decidedBps",
    due.recipient as "partnerRecipient", due.bps as "partnerBps",
    stated.recipient as "statedRecipient", stated.bps as "statedBps",
    c.royalty_recipient as "configuredRecipient", c.royalty_bps as "configuredBps", f.supply, f.holders,
    f.listed - coalesce(ended.tokens, 0) as listed, ${current("floor")} as floor,
    ${current("floor_buyable")} as "floorBuyable", ${current("best_offer")} as "bestOffer",
    ${sql.join(figures.map((figure) => sql`f.${sql.id(figure)}`))}`;
}

/** Figures are as of the last clock tick: where an order of collection `f` may have ended since, they are read again. */
const mayHaveChanged = (now: Date) => sql`f.next_change_at <= ${unixSeconds(now)}::bigint`;

export function collectionJoins(now: Date, parts: CollectionParts): RawBuilder<unknown> {
  const ifWanted = (part: CollectionPart) => (parts.has(part) ? sql`true` : sql`false`);
  return sql`
    left join collections.collection c on c.collection_id = f.collection_id
    left join log.contract k on k.contract_id = f.collection_id
    left join metadata.contract md on ${ifWanted("metadata")} and md.contract_id = f.collection_id
    left join lateral (${operatorRoyalty(sql`f.collection_id`)}) decided on ${ifWanted("royalty")}
    left join lateral (${partnerRoyalty(sql`f.collection_id`)}) due on ${ifWanted("royalty")}
    left join lateral (${contractRoyalty(sql`f.collection_id`)}) stated on ${ifWanted("royalty")}
    left join lateral (
      select jsonb_agg(jsonb_build_object('address', '0x' || encode(a.address, 'hex'), 'standard', m.standard)
                       order by m.contract_id <> f.collection_id, m.contract_id) as contracts
      from collections.contract m join log.contract a using (contract_id) where m.collection_id = f.collection_id
    ) parts on ${ifWanted("contracts")}
    left join lateral (${whereMayHaveChanged(orderFigures(contractsOf, sql`not ${hasEnded(now)}`), now)}) live on ${ifWanted("orders")}
    left join lateral (${whereMayHaveChanged(endedTokens(now), now)}) ended on ${ifWanted("orders")}`;
}

/** Reads only where something may have ended: a join condition would be evaluated after the read. */
function whereMayHaveChanged(read: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
    select figures.* from (select where ${mayHaveChanged(now)} offset 0) outdated cross join lateral (${read} offset 0) figures`;
}

/** Number of tokens of collection `f` that are counted as listed although their last listing has ended. */
function endedTokens(now: Date): RawBuilder<unknown> {
  return sql`
    select count(*) as tokens
    from collection_stats.contract n join collection_stats.token t using (contract_id)
    where n.collection_id = f.collection_id and t.is_listed and t.next_change_at <= ${unixSeconds(now)}::bigint
      and not exists (
        select from listings.listing o
        where o.contract_id = t.contract_id and o.token_id = t.token_id and o.status = 'active'
          and not ${hasEnded(now)}
      )`;
}

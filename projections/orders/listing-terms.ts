import { type RawBuilder, sql } from "kysely";
import { commonConduit } from "#abis/deployments.ts";
import { listingMarketplaces } from "../domain/marketplaces.ts";
import { partnersFillingByApi } from "../domain/partners.ts";
import { wholeOrderTypes } from "../domain/seaport/fill.ts";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import { compactedWith, lateFillKinds, lateFills } from "./clock.ts";
import { affectedListings, listingTermsKinds, recomputeTable } from "./find-affected-orders.ts";
import { contractSigned, exchangeContracts, isEffective } from "./select-facts.ts";

/** Columns that follow from a listing's own facts. No event of a chain changes them. */
const termTypes = {
  order_hash: "bytea",
  chain_id: "integer",
  position: "bigint",
  marketplace: "text",
  contract_id: "integer",
  token_id: "numeric(78,0)",
  standard: "smallint",
  maker: "bytea",
  currency: "bytea",
  unit_price_wei: "numeric(78,0)",
  seller_net_wei: "numeric(78,0)",
  quantity: "numeric(78,0)",
  start_time: "bigint",
  end_time: "bigint",
  counter: "numeric(78,0)",
  fees: "jsonb",
  is_conduit_known: "boolean",
  is_buyable: "boolean",
  is_visible: "boolean",
  is_filled_whole: "boolean",
  is_contract_signed: "boolean",
  created_at: "timestamptz",
  last_seen_at: "timestamptz",
} as const;

export const termColumnNames = Object.keys(termTypes);
export const termColumns = sql.raw(termColumnNames.join(", "));

/** As columns of a temporary table. */
const termColumnTypes = Object.entries(termTypes)
  .map(([name, type]) => `${name} ${type}`)
  .join(", ");

/** The listings whose terms a window changes or brings back, each from all effective facts of its order. */
function changedListingTerms(window: FactWindow): RawBuilder<unknown> {
  const kinds = kindList(...listingTermsKinds);
  return termsOf(sql`
    (select order_hash from ${window.changes} where kind in ${kinds} union ${lateFills(window)}) named
    cross join lateral (
      select f.* from ${window.facts} f
      where f.order_hash = named.order_hash and f.kind in ${kinds} and ${isEffective(window)} offset 0
    ) f`);
}

/** Every listing, from the history of all facts. */
function allListingTerms(window: FactWindow): RawBuilder<unknown> {
  return termsOf(
    sql`(select * from ${window.changes} where kind in ${kindList(...listingTermsKinds)}) f`,
  );
}

const ofKind = (kind: FactKind) => sql`kind in ${kindList(kind)}`;
const precedence = sql`array_position(${sql.lit(`{${listingMarketplaces.join()}}`)}::text[], marketplace)`;

/**
 * One row per order: the first terms from the marketplace with the highest precedence, and whether that marketplace has
 * withdrawn it since. Facts of other marketplaces are ignored.
 */
export function termsOf(facts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select distinct on (order_hash, chain_id) ${termColumns}
    from (
      select *,
             case when marketplace = 'native' then true
                  when marketplace = any(${sql.lit(`{${partnersFillingByApi.join()}}`)}::text[]) then currency is null
                              else order_type <= 1 and is_conduit_known and bool_or(has_signature) over source end as is_buyable,
             order_type = any(${sql.lit(`{${wholeOrderTypes.join()}}`)}::int[]) as is_filled_whole,
             not first_value(${ofKind("partner_listing_withdrawn")}) over latest as is_visible,
             first_value(created_at) over latest as last_seen_at
      from (${factsOf(facts)} offset 0) f
      window source as (partition by order_hash, chain_id, marketplace),
             latest as (partition by order_hash, chain_id, marketplace order by position desc)
    ) stated
    where not ${ofKind("partner_listing_withdrawn")}
    order by order_hash, chain_id, ${precedence}, position`;
}

/** The end of the year 9999. A partner's order may name any uint256, which no column and no date holds. */
const latestTime = Date.UTC(10_000, 0, 1) / 1_000 - 1;

/** Columns of each fact `f`. Payloads are large and compressed: each is decompressed once, and none is sorted. */
function factsOf(facts: RawBuilder<unknown>): RawBuilder<unknown> {
  const isNative = sql`f.${ofKind("order_submitted")}`;
  const component = (name: string) => sql`components ->> ${sql.lit(name)}`;
  const term = (name: string) => sql`terms ->> ${sql.lit(name)}`;
  const time = (name: string) =>
    sql`least((${component(name)})::numeric, ${sql.lit(latestTime)})::bigint`;
  return sql`
    select f.kind, f.order_hash, k.chain_id, f.position, f.contract_id, f.token_id, f.from_address as maker,
           case when ${isNative} then 'native' else content.marketplace end as marketplace,
           case ${term("standard")} when 'erc721' then 721 else 1155 end::smallint as standard,
           decode(substr(content.currency, 3), 'hex') as currency,
           (${term("unitPriceWei")})::numeric as unit_price_wei, (${term("sellerNetWei")})::numeric as seller_net_wei,
           f.amount as quantity, ${time("startTime")} as start_time,
           ${time("endTime")} as end_time, (${component("counter")})::numeric as counter,
           terms -> 'fees' as fees, f.recorded_at as created_at,
           ${isNative} or ${component("conduitKey")} = ${sql.lit(commonConduit.key)} as is_conduit_known,
           (${component("orderType")})::int as order_type, content.signature is not null as has_signature,
           ${contractSigned} as is_contract_signed
    from ${facts} join log.contract k on k.contract_id = f.contract_id
    cross join lateral (
      select * from jsonb_to_record(f.payload)
        as payload (terms jsonb, components jsonb, marketplace text, currency text, signature text)
      offset 0
    ) content
    where f.${ofKind("partner_listing_withdrawn")} or ${term("side")} = 'ask'`;
}

/**
 * The listings to recompute: their terms, their stored state (`old_…`), and `is_replaced`: whether their terms differ
 * from the stored ones.
 */
export const listingsToRecompute = recomputeTable(
  "recompute_listing",
  `${termColumnTypes}, old_status text, old_reason text, old_filled numeric, old_fillable numeric,
   old_updated_at timestamptz, old_marketplace text, is_replaced boolean, exchange_id integer, conduit_id integer`,
  [
    "order_hash",
    "chain_id",
    "contract_id",
    "token_id",
    "maker",
    "standard",
    "exchange_id",
    "conduit_id",
  ],
);

const oldColumns = sql`
  old_status, old_reason, old_filled, old_fillable, old_updated_at, old_marketplace, is_replaced`;

/** The log has no approvals or channels of other conduits. */
export const contractsOfListing = sql`x.exchange_id, case when o.is_conduit_known then x.conduit_id end as conduit_id`;

/** Selects every listing of the log. */
export async function selectAllListings(session: Session, window: FactWindow): Promise<void> {
  const insert = sql`
    (${termColumns}, exchange_id, conduit_id)
    select ${termColumns}, ${contractsOfListing}
    from (${allListingTerms(window)}) o left join (${exchangeContracts}) x using (chain_id)`;
  await listingsToRecompute.replace(session, { queries: [], insert, isBulk: true });
}

/**
 * Selects the listings that a window's facts may change: those with new terms, those affected by other facts, and the
 * open ones of the same maker and token, as only the cheapest of them is active. Returns how many.
 */
export async function selectAffectedListings(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<number> {
  const listing = sql.table(`${schema}.listing`);
  const affected = [...affectedListings(window, listing), ...compactedListings(window, listing)];
  const hasTerms = holdsAny(window.kinds, [...listingTermsKinds, ...lateFillKinds]);
  if (affected.length === 0 && !hasTerms) return 0;
  const terms = hasTerms
    ? changedListingTerms(window)
    : sql`select ${termColumns} from ${listing} where false`;
  const queries = [
    sql`terms as materialized (${terms})`,
    sql`affected as materialized (${sql.join([noKeys(listing), ...affected], sql` union `)})`,
    sql`selected as materialized (
      select order_hash, chain_id from affected
      union
      select competing.order_hash, competing.chain_id
      from (
        select contract_id, token_id, maker from affected union select contract_id, token_id, maker from terms
      ) g
      cross join lateral (${openNativeListings(listing)}) competing
      except
      select order_hash, chain_id from terms
    )`,
  ];
  const insert = sql`
    (${termColumns}, ${oldColumns}, exchange_id, conduit_id)
    select o.*, ${contractsOfListing}
    from (${withOldState(listing)}) o left join (${exchangeContracts}) x using (chain_id)`;
  return listingsToRecompute.replace(session, { queries, insert, isBulk: false });
}

function compactedListings(window: WindowWithKinds, listing: RawBuilder<unknown>) {
  if (!holdsAny(window.kinds, ["clock_ticked"])) return [];
  return [
    sql`select o.order_hash, o.chain_id, o.contract_id, o.token_id, o.maker from ${listing} o where ${compactedWith(window)}`,
  ];
}

/** `terms` with their new terms and `selected` with their stored ones; both with their stored state. */
function withOldState(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  const replaceable = (row: string) =>
    sql.raw(
      ["position", "marketplace", "is_buyable", "is_visible", "last_seen_at"]
        .map((name) => `${row}.${name}`)
        .join(", "),
    );
  return sql`
    select terms.*, s.status, s.reason, s.filled, s.fillable, s.updated_at, s.marketplace,
           (${replaceable("s")}) is distinct from (${replaceable("terms")})
    from terms left join lateral (
      select * from ${listing} l where l.order_hash = terms.order_hash and l.chain_id = terms.chain_id offset 0
    ) s on true
    union all
    select stored.*
    from selected cross join lateral (
      select ${termColumns}, status, reason, filled, fillable, updated_at, marketplace as old_marketplace, false
      from ${listing} l where l.order_hash = selected.order_hash and l.chain_id = selected.chain_id offset 0
    ) stored`;
}

function noKeys(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select l.order_hash, l.chain_id, l.contract_id, l.token_id, l.maker from ${listing} l where false`;
}

/** Our own open listings of the maker and token of `g`. */
function openNativeListings(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select l.order_hash, l.chain_id from ${listing} l
    where l.contract_id = g.contract_id and l.token_id = g.token_id and l.maker = g.maker
      and l.status in ('active', 'inactive') and l.marketplace = 'native'
    offset 0`;
}

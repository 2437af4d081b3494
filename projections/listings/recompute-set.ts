import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { affectedListings, listingTermsKinds } from "../order-state/affected-listings.ts";
import { compactedWith, lateFillKinds } from "../order-state/compaction.ts";
import { exchangeContracts } from "../order-state/exchange-contracts.ts";
import { recomputeTable } from "../order-state/recompute-table.ts";
import { allListingTerms, changedListingTerms, termColumns, termColumnTypes } from "./listing-terms.ts";

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
const contractIds = sql`x.exchange_id, case when o.is_conduit_known then x.conduit_id end`;

/** Selects every listing of the log. */
export async function selectAllListings(session: Session, window: FactWindow): Promise<void> {
  const insert = sql`
    (${termColumns}, exchange_id, conduit_id)
    select ${termColumns}, ${contractIds}
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
    select o.*, ${contractIds}
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

import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { FactWindow, WindowWithKinds } from "../engine/projection.ts";
import { openScratch } from "../engine/scratch.ts";
import { holdsAny } from "../engine/window.ts";
import { affectedListings } from "../order-state/affected-listings.ts";
import { exchangeContracts } from "../order-state/exchange-contracts.ts";
import {
  allListingTerms,
  changedListingTerms,
  listingTermsKinds,
  termColumns,
  termColumnTypes,
} from "./listing-terms.ts";

/** The listings to judge, in a table of the session: what they offer, where, and what was derived of them before. */
export const judgedListing = sql`pg_temp.judged_listing`;

/** What is derived and may change; where it was told of, and whether it is told otherwise now. */
const before = sql`status, reason, filled, fillable, updated_at, old_marketplace, is_retold`;

/** Approvals and channels of other conduits are not in the log. */
const venue = sql`v.exchange_id, case when o.is_conduit_known then v.conduit_id end`;

/** Rows from which statistics of the table pay for themselves. */
const ANALYZE_ROWS = 500;

/** Of what is joined by: all columns of a row take three times as long. */
async function analyzeJudged(session: Session): Promise<void> {
  await sql`
    analyze ${judgedListing} (order_hash, chain_id, contract_id, token_id, maker, standard, exchange_id, conduit_id)`.execute(
    session,
  );
}

/** Starts the list. Several targets may share a tick's transaction. */
export async function openJudged(session: Session): Promise<void> {
  const columns = `
    ${termColumnTypes}, status text, reason text, filled numeric, fillable numeric, updated_at timestamptz,
    old_marketplace text, is_retold boolean, exchange_id integer, conduit_id integer`;
  await openScratch(session, "judged_listing", columns);
}

/** Lists every listing of the log. */
export async function judgeAll(session: Session, window: FactWindow): Promise<void> {
  await sql`
    with emptied as (delete from ${judgedListing})
    insert into ${judgedListing} (${termColumns}, exchange_id, conduit_id)
    select ${termColumns}, ${venue}
    from (${allListingTerms(window)}) o left join (${exchangeContracts}) v using (chain_id)`.execute(
    session,
  );
  await analyzeJudged(session);
}

/**
 * Lists what a window's facts may change: listings told of, those that the facts speak of, and the open ones of the
 * same maker and token beside them, of which all but one are superseded. Returns how many.
 */
export async function judgeTouched(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<number> {
  const listing = sql.table(`${schema}.listing`);
  const touched = affectedListings(window, listing);
  const isTold = holdsAny(window.kinds, listingTermsKinds);
  if (touched.length === 0 && !isTold) return 0;
  const told = isTold
    ? changedListingTerms(window)
    : sql`select ${termColumns} from ${listing} where false`;
  const { numAffectedRows } = await sql`
    with emptied as (delete from ${judgedListing}), told as materialized (${told}),
    touched as materialized (${sql.join([nothingOf(listing), ...touched], sql` union `)}),
    listed as materialized (
      select order_hash, chain_id from touched
      union
      select beside.order_hash, beside.chain_id
      from (
        select contract_id, token_id, maker from touched union select contract_id, token_id, maker from told
      ) g
      cross join lateral (${openOf(listing)}) beside
      except
      select order_hash, chain_id from told
    )
    insert into ${judgedListing} (${termColumns}, ${before}, exchange_id, conduit_id)
    select o.*, ${venue}
    from (${storedOrTold(listing)}) o left join (${exchangeContracts}) v using (chain_id)`.execute(
    session,
  );
  const rows = Number(numAffectedRows ?? 0n);
  if (rows > ANALYZE_ROWS) await analyzeJudged(session);
  return rows;
}

/** `told` as it is told now, `listed` as they are stored; both with what is stored of their state. */
function storedOrTold(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  const retold = (row: string) =>
    sql.raw(
      ["position", "marketplace", "is_buyable", "is_shown", "told_at"]
        .map((name) => `${row}.${name}`)
        .join(", "),
    );
  return sql`
    select told.*, s.status, s.reason, s.filled, s.fillable, s.updated_at, s.marketplace,
           (${retold("s")}) is distinct from (${retold("told")})
    from told left join lateral (
      select * from ${listing} l where l.order_hash = told.order_hash and l.chain_id = told.chain_id offset 0
    ) s on true
    union all
    select stored.*
    from listed cross join lateral (
      select ${termColumns}, status, reason, filled, fillable, updated_at, marketplace as old_marketplace, false
      from ${listing} l where l.order_hash = listed.order_hash and l.chain_id = listed.chain_id offset 0
    ) stored`;
}

function nothingOf(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select l.order_hash, l.chain_id, l.contract_id, l.token_id, l.maker from ${listing} l where false`;
}

/** What is open in the house's own book of the maker and token of `g`. */
function openOf(listing: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select l.order_hash, l.chain_id from ${listing} l
    where l.contract_id = g.contract_id and l.token_id = g.token_id and l.maker = g.maker
      and l.status in ('active', 'inactive') and l.marketplace = 'native'
    offset 0`;
}

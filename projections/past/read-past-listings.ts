import { type RawBuilder, sql } from "kysely";
import {
  collectionJoins,
  isOpenStatus,
  type OrderParts,
  ofStatus,
  timely,
} from "#projections/orders/read-orders.ts";
import { assertFoldable, mostFolded } from "../engine/fold-budget.ts";
import { retractedCte } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";
import { compactionDelaySeconds, isCompacted } from "../orders/clock.ts";
import { listingTermsKinds } from "../orders/find-affected-orders.ts";
import { listingStates } from "../orders/listing-state.ts";
import { contractsOfListing, termColumns, termsOf } from "../orders/listing-terms.ts";
import {
  type ListingFilter,
  type ListingRow,
  listingColumns,
  readListingPage,
} from "../orders/read-listings.ts";
import type { OrderSlice, OrderSort, PastOrders } from "../orders/read-order-page.ts";
import { exchangeContracts } from "../orders/select-facts.ts";
import { type BookSubject, foldedAt, type Moment, ofSubject, receivedFacts } from "./moment.ts";
import { foldedOwners, ownedCtes } from "./owned-tokens.ts";

/**
 * A page of the listings of a token, contracts or a maker as they were at a moment, by the statements that derive today's
 * rows. Throws `TooMuchToFold`.
 */
export async function readPastListingPage(
  db: Database,
  moment: Moment,
  ...[filter, sort, slice, parts]: [ListingFilter, OrderSort, OrderSlice, OrderParts]
) {
  const { clock } = moment;
  return await readListingPage(db, filter, sort, slice, clock, parts, pastListings(filter, moment));
}

/** SQL: the active ones of orders of a moment, with the number of what was `folded`: a row at least, without an order where there is none. */
export const activeThen = ({ ctes, rows, folded }: PastOrders, { clock }: Moment) => sql`
  with ${ctes}
  select counted.folded, o.* from (select ${folded} as folded) counted
  left join (
    select o.* from ${rows} o where ${ofStatus("active")} ${timely("active", clock)}
  ) o on true`;

/** The cheapest active listing of a subject at a moment, and how many tokens had one. Throws `TooMuchToFold`. */
export async function readPastFloor(
  db: Database,
  moment: Moment,
  subject: BookSubject,
): Promise<{ floor: ListingRow | null; listed: bigint }> {
  const asks = pastListings({ ...subject, marketplace: null }, moment);
  const { rows } = await sql<ListingRow & { listed: bigint; folded: number }>`
    with active as materialized (${activeThen(asks, moment)})
    select o.folded, detail.*,
           (select count(distinct (contract_id, token_id)) from active where order_hash is not null) as listed
    from (select * from active order by unit_price_wei, position limit 1) o
    ${collectionJoins} cross join lateral (select ${listingColumns(moment.clock)}) detail`.execute(
    db,
  );
  const [row] = rows;
  assertFoldable(row?.folded ?? 0);
  return row === undefined || row.orderHash === null
    ? { floor: null, listed: 0n }
    : { floor: row, listed: row.listed };
}

/**
 * Whether all listings of a filter can be found: our own are by the log's indexes; those of partners among today's rows, which
 * ended ones without a fill leave.
 */
export function isListingPastKnown(
  { status, marketplace }: Pick<ListingFilter, "status" | "marketplace">,
  moment: Moment,
  now: Date,
): boolean {
  if (marketplace === "native" || status === "filled") return true;
  return isOpenStatus(status) && isOpenPastKnown(moment, now);
}

/** Whether all listings that were open can be found. */
const isOpenPastKnown = ({ clock }: Moment, now: Date) => clock >= partnersKnownFrom(now);

/** From when on those of partners can be found: orders leave by whole hours. */
function partnersKnownFrom(now: Date): Date {
  const hour = 3_600_000;
  const first = now.getTime() - compactionDelaySeconds * 1_000;
  return new Date((Math.floor(first / hour) + 2) * hour);
}

/** The moment as it is answered where listings are not all that is asked for. `first`: the earliest that is compared with it. */
export const withinReach = (moment: Moment, now: Date, first = moment): Moment =>
  isOpenPastKnown(first, now) ? moment : { ...moment, partnersFrom: partnersKnownFrom(now) };

type Wanted = BookSubject & Pick<ListingFilter, "marketplace">;

/** The listings of a subject at a moment. With each of our own come those of its maker and token: of these one is active. */
export function pastListings(wanted: Wanted, moment: Moment): PastOrders {
  const { point } = moment;
  const recompute = foldedAt(moment, sql`past_order`);
  return {
    ctes: sql`
      ${retractedCte(point)}, today as materialized (${todaysListings(wanted, moment)}),
      named as materialized (${namedListings(wanted, moment)}),
      past_order as materialized (
        select ${termColumns}, ${contractsOfListing}
        from (${termsThen(moment)}) o left join (${exchangeContracts}) x using (chain_id)
      ),
      subject as materialized (select distinct contract_id, token_id from past_order),
      ${ownedCtes(point)},
      past_listing as materialized (
        select o.*, s.status, s.reason, s.filled, s.fillable, s.updated_at
        from past_order o
        join (${listingStates(recompute)}) s using (order_hash, chain_id)
        where not ${isCompacted(recompute)}
      )`,
    rows: sql`past_listing`,
    folded: sql`greatest((select count(*) filter (where is_ours)::int from today) + (select count(*)::int from named), ${foldedOwners})`,
  };
}

const isOwn = ({ marketplace }: Wanted, { partnersFrom }: Moment) =>
  marketplace === "native" || partnersFrom !== undefined;

/** Rows of today; `is_ours`: signed here by then, so that its terms are those of then. */
function todaysListings(wanted: Wanted, moment: Moment): RawBuilder<unknown> {
  const isOurs = sql`
    f.marketplace = 'native' and f.position <= ${moment.point.position}::bigint
    and f.created_at <= ${moment.clock.toISOString()}::timestamptz`;
  return sql`
    select ${termColumns}, ${isOurs} as is_ours from listings.listing f
    where ${ofSubject(wanted, "maker")} and ${isOwn(wanted, moment) ? isOurs : sql`true`}
    limit ${mostFolded + 1}`;
}

/** Orders whose terms are derived anew: our own that have left the table, and those of partners. */
function namedListings(wanted: Wanted, moment: Moment): RawBuilder<unknown> {
  const submitted = sql`f.kind = ${kindLiteral("order_submitted")} and ${ofSubject(wanted, "from_address")}`;
  const left = sql`
    select f.position from log.fact f where ${submitted} and f.position <= ${moment.point.position}::bigint
    except select position from today where is_ours`;
  return sql`
    select order_hash from (${receivedFacts(moment, sql`f.position in (${left})`)}) own
    union select order_hash from today where not is_ours
    limit ${mostFolded + 1}`;
}

const termsThen = (moment: Moment) => sql`
  select ${termColumns} from today where is_ours
  union all
  select ${termColumns} from (${termsOf(factsOfNamed(moment))}) derived
  where (order_hash, chain_id) not in (select order_hash, chain_id from today where is_ours)`;

/** SQL: facts `f` that the terms of the named listings follow from. */
const factsOfNamed = (moment: Moment) => sql`
  named cross join lateral (
    ${receivedFacts(moment, sql`f.order_hash = named.order_hash and f.kind in ${kindList(...listingTermsKinds)}`)} offset 0
  ) f`;

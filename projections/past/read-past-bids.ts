import { type RawBuilder, sql } from "kysely";
import {
  collectionJoins,
  type OrderParts,
  ofStatus,
  timely,
} from "#projections/orders/read-orders.ts";
import { pastBidsOnToken } from "#projections/orders/token-sets.ts";
import { assertFoldable, mostFolded } from "../engine/fold-budget.ts";
import { retractedCte } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { bidStateCtes, bidTableColumns, exchangeOfChain, submittedIn } from "../orders/bids.ts";
import { isCompacted } from "../orders/clock.ts";
import { type BidFilter, type BidRow, bidColumns, readBidPage } from "../orders/read-bids.ts";
import type { OrderSlice, OrderSort, PastOrders } from "../orders/read-order-page.ts";
import { type BookSubject, foldedAt, type Moment, ofSubject, receivedFacts } from "./moment.ts";
import { foldedOwners, ownedCtes } from "./owned-tokens.ts";

/**
 * A page of the bids on a token, on contracts or of a maker as they were at a moment, by the statements that derive today's
 * rows. Throws `TooMuchToFold`.
 */
export async function readPastBidPage(
  db: Database,
  moment: Moment,
  ...[filter, sort, slice, parts]: [BidFilter, OrderSort, OrderSlice, OrderParts]
) {
  const { clock } = moment;
  return await readBidPage(db, filter, sort, slice, clock, parts, pastBids(filter, moment));
}

/**
 * The active bid at a moment that nets a seller most: on contracts, or also on the token of one. Of equal ones, as today, that
 * on the token itself, then the oldest. Throws `TooMuchToFold`.
 */
export async function readPastBestBid(
  db: Database,
  moment: Moment,
  subject: { readonly contractIds: readonly number[]; readonly tokenId: bigint | null },
): Promise<BidRow | null> {
  const { clock } = moment;
  const { ctes, rows: bids, folded } = pastBids({ ...subject, maker: null }, moment);
  const onToken = subject.tokenId === null ? [] : [pastBidsOnToken(bids, subject.tokenId)];
  const wanted = [sql`select o.* from ${bids} o where o.kind = 'collection'`, ...onToken];
  const { rows } = await sql<BidRow & { folded: number }>`
    with ${ctes}, best as (
      select o.* from (${sql.join(wanted, sql` union all `)}) o where ${ofStatus("active")} ${timely("active", clock)}
      order by o.seller_net_wei desc, o.token_id is null, o.criteria is null, o.position limit 1
    )
    select counted.*, detail.*
    from (select ${folded} as folded) counted left join best o on true ${collectionJoins}
    cross join lateral (select ${bidColumns(clock)}) detail`.execute(db);
  const [row] = rows;
  assertFoldable(row?.folded ?? 0);
  return row === undefined || row.orderHash === null ? null : row;
}

/** Bids of a subject at a moment: of a token those on it, and those on several tokens of its contracts. */
export function pastBids(wanted: BookSubject, moment: Moment): PastOrders {
  const { point } = moment;
  const recompute = foldedAt(moment, sql`past_order`);
  return {
    ctes: sql`
      ${retractedCte(point)}, named as materialized (${namedBids(wanted, moment)}),
      past_order as materialized (
        select s.*, x.contract_id as exchange_id
        from (${submittedIn(sql`named`)}) s (${signedColumns}) ${exchangeOfChain}
      ),
      subject as materialized (
        select distinct contract_id, token_id from past_order where token_id is not null
      ),
      ${ownedCtes(point)},
      past_bid as materialized (
        with ${bidStateCtes(recompute, knownBids(moment))}
        select ${bidTableColumns} from recomputed where not ${isCompacted(recompute)}
      )`,
    rows: sql`past_bid`,
    folded: sql`greatest((select count(*)::int from named), ${foldedOwners})`,
  };
}

const signedColumns = sql.raw(`
  chain_id, order_hash, position, kind, contract_id, token_id, criteria, traits, standard, maker, currency, unit_price_wei,
  seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at`);

/** Bids that were filled since never leave the table, so it has all that were filled by then. */
const knownBids = ({ clock }: Moment) => sql`(
  select * from bids.bid where created_at <= ${clock.toISOString()}::timestamptz)`;

function namedBids({ tokenId, ...subject }: BookSubject, moment: Moment): RawBuilder<unknown> {
  const submitted = (condition: RawBuilder<unknown>) =>
    receivedFacts(moment, sql`f.kind = ${kindLiteral("order_submitted")} and ${condition}`);
  const ofContracts = ofSubject({ ...subject, tokenId: null }, "from_address");
  const facts =
    tokenId === null
      ? submitted(ofContracts)
      : sql`
        ${submitted(ofSubject({ ...subject, tokenId }, "from_address"))}
        union all ${submitted(sql`${ofContracts} and f.token_id is null`)}`;
  return sql`select * from (${facts}) f limit ${mostFolded + 1}`;
}

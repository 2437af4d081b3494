import { type RawBuilder, sql } from "kysely";
import type { Output, Window } from "../engine/projection.ts";
import type { Session } from "../log/database.ts";
import { projectingRole, releaseId, schemaOf } from "../log/versions.ts";
import { changedOrder } from "./read-orders.ts";

/**
 * Order events: how the book changed, from tick to tick. `engine.book_order` and `engine.book_price` are the book as it was
 * last told; what the tables of listings and bids hold otherwise becomes events, and the told book follows. Who applies all
 * events has the active orders of the tables.
 */
export const orderEvents: Output = {
  of: ["listings", "bids"],
  async write(session, window) {
    if (window.after < window.upTo && (await tellChanges(session, window))) return;
    const book = await lockBook(session, window);
    if (book !== null) await tellAll(session, window, book);
  },
};

/** Event ids of a position: those of its fact come first, then orders, then prices. */
const firstOrderOrdinal = 1_000_000;
const firstPriceOrdinal = 500_000_000;

/** Events of a comparison of everything, beyond which the next tick goes on. */
const mostAtOnce = 20_000;

/** The tables that events are of. Others have other ids: those of a rebuild, and of another version. */
const tables = sql`('listings.listing'::regclass::oid::bigint, 'bids.bid'::regclass::oid::bigint)`;

/** Tells the orders that the tick changed. False where the told book is not that of the same tables before the tick. */
async function tellChanges(session: Session, { after, upTo }: Window): Promise<boolean> {
  const subjects = sql`
    select distinct c.chain_id, c.order_hash from ${changedOrder} c cross join book
    where c.schema in (${schemaOf("listings")}, ${schemaOf("bids")})`;
  const { rows } = await sql<{ books: bigint }>`
    with book as (
      update engine.book set position = ${upTo}, release = ${releaseId}
      where position = ${after} and (listings, bids) = ${tables} returning position
    ), ${differences({ subjects, isWhole: false, position: sql`${upTo}::bigint` })}
    select count(*) as books from book`.execute(session);
  return rows[0]?.books === 1n;
}

/** `isFirst`: nothing was ever told. */
type Book = { isFirst: boolean };

/**
 * Null where it is not for this process to tell: another release tells as long as it has a projector, and
 * what stands up to a position may have been read.
 */
async function lockBook(session: Session, { upTo }: Window): Promise<Book | null> {
  const { rows } = await sql<{ position: bigint; isOfOther: boolean }>`
    select position, (listings, bids) <> ${tables} and release <> ${releaseId} and exists (
             select from ops.projecting_lease l
             where l.role = ${projectingRole("")} || book.release and l.expires_at > clock_timestamp()
           ) as "isOfOther"
    from engine.book for update`.execute(session);
  const [book] = rows;
  if (book === undefined) return { isFirst: true };
  return book.isOfOther || book.position >= upTo ? null : { isFirst: false };
}

/**
 * Compares the whole book with what was reported. The first time each order is reported at its own position, which spreads a large
 * book over the feed: nobody has read order events there before.
 */
async function tellAll(session: Session, { upTo }: Window, { isFirst }: Book): Promise<void> {
  const subjects = sql`
    select chain_id, order_hash from engine.book_order
    union select chain_id, order_hash from listings.listing where status = 'active'
    union select chain_id, order_hash from bids.bid where status = 'active'`;
  const position = isFirst ? sql`coalesce(position, ${upTo})` : sql`${upTo}::bigint`;
  const most = isFirst ? sql`` : sql`limit ${mostAtOnce}`;
  const { rows } = await sql<{ events: bigint }>`
    with ${differences({ subjects, isWhole: true, position, most })}
    select count(*) as events from change`.execute(session);
  const isDone = isFirst || Number(rows[0]?.events) < mostAtOnce;
  const told = isDone ? tables : sql`(0, 0)`;
  await sql`
    insert into engine.book as b (release, listings, bids, position)
    select ${releaseId}, told.listings, told.bids, ${upTo} from (values ${told}) told (listings, bids)
    on conflict (id) do update
      set release = excluded.release, listings = excluded.listings, bids = excluded.bids, position = excluded.position`.execute(
    session,
  );
}

type Comparison = {
  /** `chain_id`, `order_hash`. */
  readonly subjects: RawBuilder<unknown>;
  /** Whether they are most of the orders, so that looking each up costs more than reading all. */
  readonly isWhole: boolean;
  /** Of the event of a row of `change`. */
  readonly position: RawBuilder<unknown>;
  readonly most?: RawBuilder<unknown>;
};

/** Queries of a statement that compare orders with what was reported of them, and tell the differences. */
function differences({ subjects, isWhole, position, most }: Comparison): RawBuilder<unknown> {
  return sql`
    subject as materialized (${subjects}),
    current_order as materialized (${currentOrders(isWhole)}),
    change as materialized (
      select *, ${position} as told_at_position from (
        select s.chain_id, s.order_hash, coalesce(n.side, o.side) as side, coalesce(n.contract_id, o.contract_id) as contract_id,
               coalesce(n.terms, o.terms) as terms, n.position, n.status, n.reason, o.status as old_status,
               coalesce(n.updated_at, now()) as happened_at, ${eventType} as type
        from subject s
        left join current_order n using (chain_id, order_hash)
        ${isWhole ? joinedBook : foundInBook}
      ) compared
      where type is not null ${most ?? sql``}
    ),
    told as (
      insert into engine.order_event
        (position, ordinal, chain_id, type, contract_id, side, order_hash, status, reason, terms, happened_at)
      select told_at_position,
             ${firstOrderOrdinal} + row_number() over (partition by told_at_position order by position, order_hash, chain_id),
             chain_id, type, contract_id, side, order_hash, status, reason, terms, happened_at
      from change
    ),
    ended as (
      delete from engine.book_order o using change c
      where (c.status is null or c.status not in ('active', 'inactive'))
        and o.order_hash = c.order_hash and o.chain_id = c.chain_id
    ),
    kept as (
      insert into engine.book_order (order_hash, chain_id, side, contract_id, status, reason, terms)
      select order_hash, chain_id, side, contract_id, status, reason, terms from change where status in ('active', 'inactive')
      on conflict (order_hash, chain_id) do update
        set side = excluded.side, contract_id = excluded.contract_id, status = excluded.status, reason = excluded.reason,
            terms = excluded.terms
    ),
    ${priceChanges}`;
}

const joinedBook = sql`left join engine.book_order o using (chain_id, order_hash)`;
const foundInBook = sql`
  left join lateral (
    select b.* from engine.book_order b where b.order_hash = s.order_hash and b.chain_id = s.chain_id offset 0
  ) o on true`;

/** Of an order `n` as it is, and `o` as it was reported; null: nothing to tell. What was never active is not told. */
const eventType = sql`
  case
    when n.status = 'active' and o.status is distinct from 'active' then 'order_activated'
    when n.status = 'active' then case when n.terms is distinct from o.terms then 'order_updated' end
    when o.status is null then null
    when n.status is null then 'order_removed'
    when n.status <> 'inactive' then 'order_' || n.status
    when (o.status, o.reason) is not distinct from (n.status, n.reason) then null
    when n.reason = 'superseded' then 'order_superseded'
    else 'order_invalidated'
  end`;

/** The orders of `subject` as the tables have them. */
function currentOrders(isWhole: boolean): RawBuilder<unknown> {
  const orders = (table: string) =>
    isWhole
      ? sql`join ${sql.table(table)} o using (order_hash, chain_id)`
      : sql`cross join lateral (
          select o.* from ${sql.table(table)} o where o.order_hash = s.order_hash and o.chain_id = s.chain_id offset 0
        ) o`;
  const columns = sql`o.contract_id, o.position, o.status, o.reason, o.updated_at`;
  return sql`
    select s.chain_id, s.order_hash, 'ask' as side, ${columns}, ${listingTerms} as terms
    from subject s ${orders("listings.listing")}
    union all
    select s.chain_id, s.order_hash, 'bid', ${columns}, ${bidTerms}
    from subject s ${orders("bids.bid")}`;
}

const hex = (column: string) => sql`'0x' || encode(${sql.ref(column)}, 'hex')`;

/** What both have, of a row `o`. Numbers are text: JSON has none of their size. */
const commonTerms = sql`
  'tokenId', o.token_id::text, 'standard', o.standard, 'maker', ${hex("o.maker")}, 'currency', ${hex("o.currency")},
  'priceWei', o.unit_price_wei::text, 'sellerNetWei', o.seller_net_wei::text, 'quantity', o.quantity::text,
  'filled', o.filled::text, 'startTime', o.start_time::text, 'endTime', o.end_time::text, 'fees', o.fees`;

const listingTerms = sql`
  jsonb_build_object(${commonTerms}, 'marketplace', o.marketplace, 'kind', 'single-token',
                     'available', o.fillable::text, 'isBuyable', o.is_buyable)`;

const bidTerms = sql`
  jsonb_build_object(${commonTerms}, 'marketplace', 'native', 'kind', o.kind, 'criteria', ${hex("o.criteria")},
                     'available', (o.quantity - o.filled)::text, 'isBuyable', true)`;

/** The cheapest listing and the best bid on any token, of contracts whose active orders changed. */
const priceChanges = sql`
  traded as materialized (
    select chain_id, contract_id, side, max(told_at_position) as told_at_position, max(happened_at) as happened_at
    from change group by chain_id, contract_id, side having bool_or('active' in (status, old_status))
  ),
  price as materialized (
    select t.*, best.order_hash, best.price_wei, best.terms
    from traded t
    left join lateral (
      (select o.order_hash, o.unit_price_wei as price_wei, ${listingTerms} as terms from listings.listing o
       where t.side = 'ask' and o.contract_id = t.contract_id and o.status = 'active'
       order by o.unit_price_wei, o.position limit 1)
      union all
      (select o.order_hash, o.unit_price_wei, ${bidTerms} from bids.bid o
       where t.side = 'bid' and o.contract_id = t.contract_id and o.kind = 'collection' and o.status = 'active'
       order by o.seller_net_wei desc, o.position limit 1)
    ) best on true
  ),
  price_change as materialized (
    select p.*, b.price_wei as old_price_wei
    from price p left join engine.book_price b using (contract_id, side)
    where p.price_wei is distinct from b.price_wei
  ),
  told_price as (
    insert into engine.order_event
      (position, ordinal, chain_id, type, contract_id, side, order_hash, terms, happened_at)
    select p.told_at_position, ${firstPriceOrdinal} + row_number() over (order by p.contract_id, p.side), p.chain_id,
           case p.side when 'ask' then 'floor_changed' else 'best_bid_changed' end, p.contract_id, p.side, p.order_hash,
           coalesce(p.terms, '{}'::jsonb) || jsonb_build_object('previousPriceWei', p.old_price_wei::text), p.happened_at
    from price_change p
  ),
  gone_price as (
    delete from engine.book_price b using price_change p
    where p.price_wei is null and b.contract_id = p.contract_id and b.side = p.side
  ),
  kept_price as (
    insert into engine.book_price (contract_id, side, price_wei)
    select contract_id, side, price_wei from price_change where price_wei is not null
    on conflict (contract_id, side) do update set price_wei = excluded.price_wei
  )`;

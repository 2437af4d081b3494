import { type RawBuilder, sql } from "kysely";
import { bidReasons } from "../domain/orders/order-status.ts";
import { clockAt, holdsAny, withKinds } from "../engine/fact-window.ts";
import type { FactWindow, Projection, Relation, WindowWithKinds } from "../engine/projection.ts";
import { ownedNow } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { sendAhead } from "../log/pipelined.ts";
import { versions } from "../log/versions.ts";
import { compactedWith, isCompacted, isUnfilledEnd, lateFillKinds, lateFills } from "./clock.ts";
import { affectedBids, affectedItemBids, recomputeTable } from "./find-affected-orders.ts";
import { makerFunds } from "./maker-funds.ts";
import { orderEvents } from "./order-events.ts";
import {
  noteChanged,
  openChangedOrders,
  reasonCase,
  statusCase,
  storeCounts,
} from "./read-orders.ts";
import {
  blockTime,
  contractSigned,
  counters,
  exchange,
  fillsAndCancels,
  isEffective,
  type RecomputeSet,
} from "./select-facts.ts";
import { insertTokenSets, storeTokenSets, tokenSetTables } from "./token-sets.ts";

/** The bids to recompute: their signed terms, and their stored state (`old_…`). */
const bidsToRecompute = recomputeTable(
  "recompute_bid",
  `chain_id integer, order_hash bytea, position bigint, kind text, contract_id integer, token_id numeric(78,0),
   criteria bytea, traits jsonb, standard smallint, maker bytea, currency bytea, unit_price_wei numeric(78,0), seller_net_wei numeric(78,0),
   quantity numeric(78,0), start_time bigint, end_time bigint, counter numeric(78,0), fees jsonb,
   is_contract_signed boolean, created_at timestamptz, old_status text, old_reason text, old_filled numeric(78,0),
   old_filled_block_id bigint, old_updated_at timestamptz, exchange_id integer`,
);

/** Selects every bid of the log. */
async function selectAllBids(session: Session, window: FactWindow): Promise<void> {
  const insert = sql`
    select s.*, ${noOldState}, x.contract_id from (${submittedIn(window.changes)}) s ${exchangeOfChain}`;
  await bidsToRecompute.replace(session, { queries: [], insert, isBulk: true });
}

/** Selects the bids submitted in a window, and those stored that its facts may change. Returns how many. */
async function selectAffectedBids(
  session: Session,
  schema: string,
  window: WindowWithKinds,
): Promise<number> {
  const bid = sql.table(`${schema}.bid`);
  const affected = [
    ...affectedBids(window, bid),
    ...affectedItemBids(window, bid),
    ...compactedBids(window, bid),
  ];
  // A submission affects bids as well: the maker's others, if it was filled before it was submitted.
  if (affected.length === 0) return 0;
  const queries = [
    sql`affected as (${sql.join(affected, sql` union `)})`,
    sql`selected as (
      select s.*, ${noOldState} from (${submittedIn(window.changes)}) s
      union all
      ${returning(window, bid)}
      select b.* from affected a cross join lateral (
        select chain_id, order_hash, position, kind, contract_id, token_id, criteria, traits, standard, maker, currency,
               unit_price_wei, seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at,
               status, reason, filled, filled_block_id, updated_at
        from ${bid} b where b.order_hash = a.order_hash and b.chain_id = a.chain_id offset 0
      ) b
    )`,
  ];
  const insert = sql`select s.*, x.contract_id from selected s ${exchangeOfChain}`;
  return bidsToRecompute.replace(session, { queries, insert, isBulk: false });
}

const noOldState = sql`null, null, null::numeric, null::bigint, null::timestamptz`;

function compactedBids(window: WindowWithKinds, bid: Relation): RawBuilder<unknown>[] {
  if (!holdsAny(window.kinds, ["clock_ticked"])) return [];
  return [sql`select o.chain_id, o.order_hash from ${bid} o where ${compactedWith(window)}`];
}

/** Compacted bids that a window shows to be filled, submitted before it. */
function returning(window: WindowWithKinds, bid: Relation): RawBuilder<unknown> {
  if (!holdsAny(window.kinds, lateFillKinds)) return sql``;
  const submissions = sql`(
    select f.* from (${lateFills(window)}) named cross join lateral (
      select f.* from ${window.facts} f
      where f.order_hash = named.order_hash and f.kind in ${kindList("order_submitted")} and ${isEffective(window)} offset 0
    ) f
    where not exists (select from ${bid} b where b.order_hash = f.order_hash)
      and not exists (select from ${window.changes} c where c.order_hash = f.order_hash and c.kind = f.kind)
  )`;
  return sql`select s.*, ${noOldState} from (${submittedIn(submissions)}) s union all`;
}

/** What the token ids under a root were chosen by; null: they were named one by one, or there is no root. */
const traits = sql`nullif(f.payload #> '{terms,criteria,traits}', 'null')`;

const kind = sql`
  case when f.token_id is not null then 'single-token'
       when f.payload #>> '{terms,criteria,root}' is null then 'collection'
       when ${traits} is null then 'token-list' else 'trait' end`;

/** The submissions of bids among facts, with the columns of `bid` that are signed. */
export const submittedIn = (facts: Relation): RawBuilder<unknown> => sql`
  select k.chain_id, f.order_hash, f.position, ${kind}, f.contract_id, f.token_id,
         decode(substr(f.payload #>> '{terms,criteria,root}', 3), 'hex'), ${traits}, case f.payload #>> '{terms,standard}' when 'erc721' then 721 else 1155 end,
         f.from_address, decode(substr(f.payload #>> '{components,offer,0,token}', 3), 'hex'),
         (f.payload #>> '{terms,unitPriceWei}')::numeric, (f.payload #>> '{terms,sellerNetWei}')::numeric, f.amount,
         (f.payload #>> '{components,startTime}')::bigint, (f.payload #>> '{components,endTime}')::bigint,
         (f.payload #>> '{components,counter}')::numeric, f.payload #> '{terms,fees}', ${contractSigned},
         f.recorded_at
  from ${facts} f join log.contract k using (contract_id)
  where f.kind in ${kindList("order_submitted")} and f.payload #>> '{terms,side}' = 'bid'`;

/** The exchange's contract id on the chain of `s`; null before the first fact of the exchange. */
export const exchangeOfChain = sql`left join log.contract x on x.chain_id = s.chain_id and x.address = ${exchange}`;

/** Our bids with their state, and their number by status. */
function bidTables(schema: string): string[] {
  const bid = `${schema}.bid`;
  const isOpen = "status in ('active', 'inactive')";
  return [
    `create table ${bid} (
       chain_id        integer not null,
       order_hash      bytea not null,
       position        bigint not null,
       kind            text not null,
       contract_id     integer not null,
       token_id        numeric(78,0),
       criteria        bytea,
       traits          jsonb,
       standard        smallint not null,
       maker           bytea not null,
       currency        bytea not null,
       unit_price_wei  numeric(78,0) not null,
       seller_net_wei  numeric(78,0) not null,
       quantity        numeric(78,0) not null,
       start_time      bigint not null,
       end_time        bigint not null,
       counter         numeric(78,0) not null,
       fees            jsonb not null,
       is_contract_signed boolean not null,
       created_at      timestamptz not null,
       status          text not null,
       reason          text,
       filled          numeric(78,0) not null,
       filled_block_id bigint,
       updated_at      timestamptz not null,
       primary key (order_hash, chain_id)
     ) with (fillfactor = 85)`,
    `comment on column ${bid}.position is 'Of the order_submitted fact'`,
    `comment on column ${bid}.kind is 'single-token, collection, trait or token-list'`,
    `comment on column ${bid}.token_id is 'null: of several tokens'`,
    `comment on column ${bid}.criteria is 'Merkle root of the tokens of a trait or token-list bid: token_set'`,
    `comment on column ${bid}.traits is 'Of a trait bid: [{type, value}] or [{type, min, max}], which all its tokens had'`,
    `comment on column ${bid}.currency is 'Its address: the contract may have no fact yet'`,
    `comment on column ${bid}.fees is 'Per unit: [{recipient, unitWei, kind}]'`,
    `comment on column ${bid}.is_contract_signed is 'By a contract, which may revoke its signature without an event'`,
    `comment on column ${bid}.status is 'As of the last clock_ticked: a reader adds end_time > now'`,
    `comment on column ${bid}.reason is 'Why it is inactive; the first of several reasons'`,
    `comment on column ${bid}.filled is 'Units'`,
    `comment on column ${bid}.filled_block_id is 'Latest block with a fill; null: none'`,
    // Writes: bids affected by a maker, a fill or the clock.
    `create index on ${bid} (maker, chain_id) where status <> 'filled'`,
    `create index on ${bid} (maker, chain_id, filled_block_id) where filled_block_id is not null`,
    `create index on ${bid} (end_time) where ${isOpen}`,
    `create index on ${bid} (end_time) where ${isUnfilledEnd}`,
    `create index on ${bid} (start_time) where reason = 'not_started'`,
    // Rechecks of state that changes without an event.
    `create index on ${bid} (chain_id, position) where is_contract_signed and ${isOpen}`,
    // Reads, and writes that affect a maker's open bids.
    `create index on ${bid} (chain_id, status, unit_price_wei, position) where ${isOpen}`,
    `create index on ${bid} (chain_id, status, created_at, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, status, unit_price_wei, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, status, created_at, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, status, seller_net_wei, position) where ${isOpen}`,
    `create index on ${bid} (chain_id, status, seller_net_wei, position) where ${isOpen}`,
    `create index on ${bid} (contract_id, token_id, status, unit_price_wei, position)`,
    `create index on ${bid} (token_id, chain_id, status, unit_price_wei, position)
       where token_id is not null`,
    `create index on ${bid} (contract_id, token_id, seller_net_wei desc, position) where status = 'active' and token_id is not null`,
    `create index on ${bid} (contract_id, seller_net_wei desc, position) where status = 'active' and kind = 'collection'`,
    `create index on ${bid} (contract_id, seller_net_wei desc, position) where status = 'active' and criteria is not null`,
    `create index on ${bid} (contract_id, criteria, status, unit_price_wei, position) where criteria is not null`,
    `create index on ${bid} (maker, chain_id, status, unit_price_wei, position)`,
    `create index on ${bid} (maker, chain_id, status, created_at, position)`,
    `create table ${schema}.count (
       chain_id    integer not null,
       contract_id integer not null,
       kind        text not null,
       status      text not null,
       rows        bigint not null,
       primary key (chain_id, contract_id, kind, status)
     )`,
    ...tokenSetTables(schema),
  ];
}

const { orders } = bidsToRecompute;

/** Our bids and their state; ended ones without a fill leave after 30 days. */
export const bidsProjection: Projection = {
  name: "bids",
  version: versions.bids.version,
  reads: ["ownership"],
  tables: bidTables,
  async apply(session, schema, window) {
    await sendAhead(session, async (ahead) => {
      await openChangedOrders(ahead);
      await bidsToRecompute.open(ahead);
    });
    const withKind = await withKinds(session, window);
    await storeTokenSets(session, schema, withKind);
    const rows = await selectAffectedBids(session, schema, withKind);
    if (rows > 0) await storeStates(session, schema, { ...window, orders });
  },
  deriveAll: [{ name: "bids", derive: deriveBids }],
  output: orderEvents,
};

async function deriveBids(session: Session, schema: string, window: FactWindow): Promise<void> {
  await bidsToRecompute.open(session);
  await insertTokenSets(session, schema, { facts: window.changes, isBulk: true });
  await selectAllBids(session, window);
  await storeStates(session, schema, { ...window, orders, history: window.changes });
}

/** The columns of the bids, the conditions that decide their state except funds, and the times of these facts. */
function orderConditions(recompute: RecomputeSet): RawBuilder<unknown> {
  const clock = sql`(select ${clockAt(recompute)})`;
  /** Also of a counter in a retracted block: it will not occur again, so an order signed with it is cancelled. */
  const isStale = sql`coalesce(counter.amount, 0) <> o.counter`;
  return sql`
    select o.*, least(coalesce(ended.filled, 0), o.quantity) as filled, ended.filled_block as filled_block_id,
           coalesce(ended.filled >= o.quantity, false) as is_filled,
           coalesce(ended.is_cancelled, false) or ${isStale} as is_cancelled,
           o.end_time <= ${clock} as is_expired,
           o.start_time > greatest(${clock}, floor(extract(epoch from o.created_at))) as is_early,
           not coalesce(ended.is_signed, true) as is_unsigned,
           not coalesce(ended.is_received, true) as is_refused,
           burned.block_id is not null as is_burned,
           ${blockTime(sql`burned.block_id`)} as burned_at,
           ${blockTime(sql`ended.filled_block`)} as filled_at,
           greatest(${blockTime(sql`ended.cancelled_block`)}, case when ${isStale} then ${blockTime(sql`counter.block_id`)} end)
             as cancelled_at,
           ${blockTime(sql`ended.read_block`)} as read_at
    from ${recompute.orders} o
    left join (${fillsAndCancels(recompute, "bid")}) ended
      on ended.order_hash = o.order_hash and ended.exchange_id = o.exchange_id
    left join (${counters(recompute)}) counter
      on counter.maker = o.maker and counter.exchange_id = o.exchange_id
    left join lateral (${burnOf(recompute)}) burned on o.token_id is not null`;
}

/**
 * The last transfer of the token that a bid is on, where it left nothing of it; a later one may mint it again. Of a token
 * without a transfer nothing is known: its contract may be older than what is indexed of it.
 */
function burnOf({ owned = ownedNow }: RecomputeSet): RawBuilder<unknown> {
  return sql`
    select max(token.block_id) as block_id from ${owned.tokensAt(sql`o.contract_id`, sql`o.token_id`)} token
    where token.is_burned`;
}

/** Why an open bid cannot be filled. Each bid is compared with all funds of its maker, whatever other bids there are. */
const inactiveReason = reasonCase(bidReasons, {
  not_started: sql`is_early`,
  token_burned: sql`is_burned`,
  insufficient_balance: sql`balance_wei < unit_price_wei * (quantity - filled)`,
  insufficient_allowance: sql`allowance_wei < unit_price_wei * (quantity - filled)`,
  contract_signature_invalid: sql`is_unsigned`,
  transfer_restricted: sql`is_refused`,
});

const status = statusCase({
  isFilled: sql`is_filled`,
  isCancelled: sql`is_cancelled`,
  isExpired: sql`is_expired`,
  isBlocked: sql`inactive_reason is not null`,
});

/** The time of the latest fact that the state depends on. */
const updatedAt = sql`
  case status
    when 'filled' then greatest(created_at, filled_at)
    when 'cancelled' then greatest(created_at, filled_at, cancelled_at)
    when 'expired' then greatest(created_at, to_timestamp(end_time))
    else greatest(created_at, filled_at, read_at, balance_at, allowance_at, burned_at,
                  case when not is_early then to_timestamp(start_time) end)
  end`;

/** Columns of `bid`. */
export const bidTableColumns = sql`
  chain_id, order_hash, position, kind, contract_id, token_id, criteria, traits, standard, maker, currency, unit_price_wei,
  seller_net_wei, quantity, start_time, end_time, counter, fees, is_contract_signed, created_at, status, reason, filled,
  filled_block_id, updated_at`;
const differs = sql`
  (status, reason, filled, filled_block_id, updated_at)
  is distinct from (old_status, old_reason, old_filled, old_filled_block_id, old_updated_at)`;
/** Not in bulk: tables without indexes cannot have conflicts. */
const onConflict = sql`
  on conflict (order_hash, chain_id) do update
    set status = excluded.status, reason = excluded.reason, filled = excluded.filled,
        filled_block_id = excluded.filled_block_id, updated_at = excluded.updated_at`;

/** SQL: CTEs, the last of which is `recomputed`: the bids with their state. `stored`: bids of the makers besides them. */
export function bidStateCtes(recompute: RecomputeSet, stored: Relation): RawBuilder<unknown> {
  return sql`
    conditions as materialized (
      ${orderConditions(recompute)}
    ), account as materialized (
      select distinct chain_id, currency, maker from conditions where not (is_filled or is_cancelled or is_expired)
    ), ${makerFunds(stored, recompute)}, funded as (
      select *, ${inactiveReason} as inactive_reason from conditions left join funds using (chain_id, currency, maker)
    ), with_status as (
      select *, ${status} as status from funded
    ), recomputed as (
      select *, case when status = 'inactive' then inactive_reason end as reason, ${updatedAt} as updated_at
      from with_status
    )`;
}

/** Recomputes the bids, stores and counts those whose state changed, deletes compacted ones, and notes which. */
async function storeStates(
  session: Session,
  schema: string,
  recompute: RecomputeSet,
): Promise<void> {
  const counts = storeCounts(schema, "kind", "kind");
  const bid = sql.table(`${schema}.bid`);
  const isBulk = recompute.history !== undefined;
  const resolution = isBulk ? sql`` : onConflict;
  await sql`
    with ${bidStateCtes(recompute, bid)}, changed as materialized (
      select * from (select *, ${isCompacted(recompute)} as is_compacted from recomputed) r
      where case when is_compacted then old_status is not null else ${differs} end
    ), stored as (
      insert into ${bid} (${bidTableColumns}) select ${bidTableColumns} from changed where not is_compacted ${resolution}
    ), compacted as (
      delete from ${bid} b using changed c
      where c.is_compacted and b.order_hash = c.order_hash and b.chain_id = c.chain_id
    )${isBulk ? sql`` : sql`, ${noteChanged(schema)}`}, ${counts.queries}
    ${counts.statement}`.execute(session);
}

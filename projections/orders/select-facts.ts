import { type RawBuilder, sql } from "kysely";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import { chainIds } from "#chains/index.ts";
import type { EffectiveFacts, Relation } from "../engine/projection.ts";
import type { OwnedTokens } from "../engine/token-ids.ts";
import { type FactKind, kindList, kindLiteral } from "../log/fact-kinds.ts";
import type { ChainReading } from "../log/readings.ts";
import { byteaLiteral } from "../log/sql-values.ts";

/** Orders to recompute, and the facts to compute them from. */
export type RecomputeSet = EffectiveFacts & {
  /** The orders; their `exchange_id` and `conduit_id` are contract ids. */
  orders: Relation;
  /** All effective facts, for one scan; absent: facts are looked up by index, subject by subject. */
  history?: Relation;
  /** Only facts of blocks with lower ids; absent: of all blocks. */
  beforeBlock?: bigint;
  /** Who has what; absent: as the tables have it. */
  owned?: OwnedTokens;
};

/** Facts about orders. A subject is a distinct combination of the values that facts and orders are joined by. */
type FactSelection = {
  kinds: readonly FactKind[];
  /** Joins facts to orders: from a fact's column to the equal column of the orders. */
  subject: Readonly<Record<string, string>>;
  /** A further condition on the fact `f`. */
  where?: RawBuilder<unknown>;
};

/** Readings about orders: of one kind, or of several with the kind in the subject. */
type ReadingSelection = Omit<FactSelection, "where"> & { kinds: readonly ChainReading["kind"][] };

/**
 * The latest fact of each subject: the orders' columns, `amount`, `fact_to_address`, `block_id`, `log_index`. Facts are
 * in chain order; a reading is of the end of its block, after all events of that height.
 */
export function latestFacts(
  recompute: RecomputeSet,
  selection: FactSelection,
): RawBuilder<unknown> {
  return firstFacts(recompute, selection, newestFirst);
}

/** The same of readings alone. In the order of the indexes of them, whose last entry of the subject is read and no other. */
export function latestReadings(
  recompute: RecomputeSet,
  selection: ReadingSelection,
): RawBuilder<unknown> {
  // The index has the account before the block; an owner's reading is of no account.
  const account = selection.kinds.includes("owner_read") ? sql`f.from_address desc, ` : sql``;
  return firstFacts(recompute, selection, sql`${account}f.block_id desc, f.position desc`);
}

function firstFacts(
  recompute: RecomputeSet,
  selection: FactSelection,
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const columns = sql`f.amount, f.to_address as fact_to_address, f.block_id, f.log_index`;
  if (recompute.history === undefined) {
    return sql`
      select s.*, ${columns}
      from (${subjectsOf(recompute, selection)}) s
      cross join lateral (${factsOfSubject(recompute, selection)} order by ${order} limit 1) f`;
  }
  const subject = columnsOf(selection);
  return sql`
    select distinct on (${subject}) s.*, ${columns}
    from (${subjectsOf(recompute, selection)}) s join ${recompute.history} f on ${matches(selection)}
    order by ${subject}, ${order}`;
}

/** All facts of each subject: the orders' columns, and the fact's columns. */
function allFacts(recompute: RecomputeSet, selection: FactSelection): RawBuilder<unknown> {
  const facts =
    recompute.history === undefined
      ? // Without `offset 0` the planner may scan the whole log for a table without statistics.
        sql`cross join lateral (${factsOfSubject(recompute, selection)} offset 0) f`
      : sql`join ${recompute.history} f on ${matches(selection)}`;
  return sql`
    select s.*, f.kind, f.position, f.block_id, f.from_address, f.to_address, f.amount, f.payload
    from (${subjectsOf(recompute, selection)}) s ${facts}`;
}

/** Whether the fact `f` is effective. */
export function isEffective({
  upTo,
  retractedBlocks,
  beforeBlock,
}: EffectiveFacts & Pick<RecomputeSet, "beforeBlock">): RawBuilder<unknown> {
  return sql`
    f.position <= ${upTo} and not exists (select from ${retractedBlocks} d where d.block_id = f.block_id)
    ${beforeBlock === undefined ? sql`` : sql`and f.block_id < ${beforeBlock}`}`;
}

const newestFirst = sql`
  f.block_id >> 12 desc, (f.log_index is null) desc, f.block_id desc, f.log_index desc, f.position desc`;

function subjectsOf({ orders }: RecomputeSet, selection: FactSelection): RawBuilder<unknown> {
  const known = Object.values(selection.subject).map(
    (column) => sql`${sql.ref(column)} is not null`,
  );
  return sql`
    select distinct ${columnsOf(selection, "")} from ${orders} where ${sql.join(known, sql` and `)}`;
}

function factsOfSubject(recompute: RecomputeSet, selection: FactSelection): RawBuilder<unknown> {
  return sql`select f.* from ${recompute.facts} f where ${matches(selection)} and ${isEffective(recompute)}`;
}

function matches({ kinds, subject, where }: FactSelection): RawBuilder<unknown> {
  const equal = Object.entries(subject).map(
    ([fact, order]) => sql`f.${sql.ref(fact)} = s.${sql.ref(order)}`,
  );
  return sql`
    ${sql.join(equal, sql` and `)} and f.kind in ${kindList(...kinds)}
    ${where === undefined ? sql`` : sql`and ${where}`}`;
}

function columnsOf({ subject }: FactSelection, alias = "s."): RawBuilder<unknown> {
  return sql.join(Object.values(subject).map((column) => sql.raw(`${alias}${column}`)));
}

/** The columns of a fact of the exchange that identify an order. */
const order = { order_hash: "order_hash", contract_id: "exchange_id" };

const isFill = sql`kind in ${kindList("order_fulfilled")}`;
const isCancel = sql`kind in ${kindList("order_cancelled")}`;
const isSignature = sql`kind in ${kindList("signature_read")}`;
const isRecipients = sql`kind in ${kindList("recipients_read")}`;
const isReading = sql`kind in ${kindList("order_status_read")}`;

/**
 * For orders with any such fact: `order_hash`, `exchange_id`, `filled` (units of the NFT), `is_cancelled`, `is_signed`
 * (the last ERC-1271 answer of a maker that is a contract), `is_received` (whether the recipients took what they would
 * get), and the blocks of these facts: `filled_block`, `cancelled_block`, `read_block` (of the last two). `filled` is the
 * latest status reading plus later fills, at least the sum of all fills. The orders have columns `order_hash`,
 * `exchange_id`, `quantity`.
 */
export function fillsAndCancels(recompute: RecomputeSet, side: "ask" | "bid"): RawBuilder<unknown> {
  const facts = allFacts(recompute, {
    kinds: ["order_fulfilled", "order_cancelled", "order_status_read"],
    subject: order,
  });
  const orders = sql`(
    select order_hash, exchange_id, reading_kind from ${recompute.orders}
    cross join (values (${kindLiteral("signature_read")}), (${kindLiteral("recipients_read")})) of_kind (reading_kind)) of_order`;
  const readings = latestReadings(
    { ...recompute, orders },
    { kinds: ["signature_read", "recipients_read"], subject: { ...order, kind: "reading_kind" } },
  );
  return sql`
    select order_hash, exchange_id,
           greatest(units, units_since + coalesce(div(
             quantity * (reading ->> 'filled')::numeric, nullif((reading ->> 'size')::numeric, 0)), 0)) as filled,
           cancelled_block is not null as is_cancelled, coalesce(signed = 1, true) as is_signed,
           coalesce(received = 1, true) as is_received, filled_block, cancelled_block, read_block
    from (
      select order_hash, exchange_id,
             coalesce(sum(units), 0) as units,
             coalesce(sum(units) filter (where block_id >> 12 > coalesce(read_at, -1)), 0) as units_since,
             (array_agg(payload order by block_id desc, position desc) filter (where ${isReading}))[1] as reading,
             max(amount) filter (where ${isSignature}) as signed,
             max(amount) filter (where ${isRecipients}) as received,
             max(block_id) filter (where ${isFill} or ${isReading} and payload ->> 'filled' <> '0') as filled_block,
             max(block_id) filter (where ${isCancel} or ${isReading} and (payload ->> 'cancelled')::boolean)
               as cancelled_block,
             max(block_id) filter (where ${isSignature} or ${isRecipients}) as read_block
      from (
        select *, case when ${isFill} then ${unitsOf(side)} end as units,
               max(block_id >> 12) filter (where ${isReading}) over (partition by order_hash, exchange_id) as read_at
        from (
          select order_hash, exchange_id, kind, position, block_id, amount, payload from (${facts}) of_order
          union all
          select order_hash, exchange_id, reading_kind, null, block_id, amount, null from (${readings}) newest
        ) of_order
      ) counted
      group by order_hash, exchange_id
    ) summed
    join ${recompute.orders} using (order_hash, exchange_id)`;
}

/** Each maker's latest known counter: `exchange_id`, `maker`, `amount`, `block_id`. */
export function counters(recompute: RecomputeSet): RawBuilder<unknown> {
  return latestFacts(recompute, {
    kinds: ["counter_incremented", "counter_read"],
    subject: { from_address: "maker", contract_id: "exchange_id" },
  });
}

/**
 * Units of the NFT in a fill: offered by a listing, received by a bid. It is the first item of an accepted order, and
 * of the event; whoever fills a bid may append items of their own to its consideration, NFTs as well.
 */
function unitsOf(side: "ask" | "bid"): RawBuilder<unknown> {
  const amount = side === "ask" ? "{offer,0,amount}" : "{consideration,0,amount}";
  return sql`(payload #>> ${sql.lit(amount)})::numeric`;
}

/**
 * `units` that transfers after a reading's block gave its maker, less those that they took: rows of `contract_id`,
 * `token_id`, `maker`. The readings, a named query that is used twice, have these columns and `block_id`. A token's
 * transfers are read once, whatever number of readings it has, and sorted among them by maker: anybody may make any
 * number of both.
 */
export function unitsMovedSince(recompute: RecomputeSet, readings: Relation): RawBuilder<unknown> {
  return sql`
    select contract_id, token_id, maker, sum(units) as units
    from (
      select *, max(read_at) over (partition by contract_id, token_id, maker) as since
      from (
        select contract_id, token_id, maker, block_id >> 12 as read_at, null::bigint as moved_at, null::numeric as units
        from ${readings}
        union all
        select t.contract_id, t.token_id, move.maker, null, f.block_id >> 12, move.units
        from (
          select contract_id, token_id, min(block_id) as read_first from ${readings} group by contract_id, token_id
        ) t
        cross join lateral (${transfersAfter(recompute)} offset 0) f
        cross join lateral (values (f.to_address, f.amount), (f.from_address, -f.amount)) move (maker, units)
      ) event
    ) placed
    where moved_at > since
    group by contract_id, token_id, maker`;
}

/** Transfers of the token of `t` after the block of its first reading. */
function transfersAfter(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    select f.from_address, f.to_address, f.amount, f.block_id from ${recompute.facts} f
    where f.kind in ${kindList("erc1155_transfer")} and f.contract_id = t.contract_id and f.token_id = t.token_id
      and f.block_id >= ((t.read_first >> 12) + 1) << 12 and ${isEffective(recompute)}`;
}

/** Addresses of the exchange that orders are signed for, and of the conduit that moves listed tokens. */
export const exchange = byteaLiteral(seaportAddresses["1.6"]);
export const conduit = byteaLiteral(commonConduit.address);

/** Contract ids per chain: `chain_id`, `exchange_id`, `conduit_id`; null before the first fact of the contract. */
export const exchangeContracts = sql`
  select chain_id, max(contract_id) filter (where address = ${exchange}) as exchange_id,
         max(contract_id) filter (where address = ${conduit}) as conduit_id
  from log.contract
  where chain_id in (${sql.join(chainIds.map((id) => sql.lit(id)))}) and address in (${exchange}, ${conduit})
  group by chain_id`;

/** Whether the fact `f` of an order says that a contract signed it (ERC-1271). */
export const contractSigned = sql`coalesce(f.payload ->> 'signedBy' = 'contract', false)`;

/** The timestamp of a block. */
export function blockTime(blockId: RawBuilder<unknown>): RawBuilder<Date> {
  return sql`(select b.timestamp from log.block b where b.block_id = ${blockId})`;
}

import { type RawBuilder, sql } from "kysely";
import { clockAt, holdsAny } from "../engine/fact-window.ts";
import type { FactWindow, Relation, WindowWithKinds } from "../engine/projection.ts";
import { openScratchTable } from "../engine/scratch.ts";
import { rangedAreas } from "../engine/token-ids.ts";
import type { Session } from "../log/database.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import { isOpen } from "./read-orders.ts";
import { conduit, exchange } from "./select-facts.ts";

/** Facts of `kinds` have `keys`; they may change the stored orders `o` that meet `condition` with such a key `c`. */
type AffectedBy = {
  kinds: readonly FactKind[];
  keys: RawBuilder<unknown>;
  condition: RawBuilder<unknown>;
};

/**
 * A query per rule, of the orders that a window's facts may change. Only for the kinds that the window has: a statement
 * for all of them takes several times as long to plan.
 */
function affectedOrders(
  { kinds }: WindowWithKinds,
  rules: readonly AffectedBy[],
  order: Relation,
  columns: readonly string[],
): RawBuilder<unknown>[] {
  const selected = sql.raw(columns.map((name) => `o.${name}`).join(", "));
  return rules
    .filter((rule) => holdsAny(kinds, rule.kinds))
    .map(
      // The lateral join with `offset 0` forces an index scan per key, also on a table without statistics.
      ({ keys, condition }) => sql`
        select o.* from (${keys}) c cross join lateral (
          select ${selected} from ${order} o where ${condition} offset 0
        ) o`,
    );
}

const orderKinds = [
  "order_fulfilled",
  "order_cancelled",
  "order_status_read",
  "signature_read",
  "recipients_read",
] as const;

/** Orders that facts name by hash. */
const byOrderHash = ({ changes }: FactWindow): AffectedBy => ({
  kinds: orderKinds,
  keys: sql`select distinct order_hash from ${changes} where kind in ${kindList(...orderKinds)}`,
  condition: sql`o.order_hash = c.order_hash`,
});

/** Open orders whose start or end time has passed. */
function byClock(window: FactWindow): AffectedBy[] {
  const kinds = ["clock_ticked"] as const;
  const keys = sql`select ${clockAt(window)} as clock`;
  return [
    { kinds, keys, condition: sql`o.end_time <= c.clock and ${isOpen}` },
    { kinds, keys, condition: sql`o.start_time <= c.clock and o.reason = 'not_started'` },
  ];
}

/** Facts that hold the terms of a listing, or that a partner has withdrawn it, by its order hash. */
export const listingTermsKinds = [
  "order_submitted",
  "partner_listing_seen",
  "partner_listing_withdrawn",
] as const satisfies readonly FactKind[];

const keyColumns = ["order_hash", "chain_id", "contract_id", "token_id", "maker"];

/** Stored listings that a window's facts may change: order hash, chain, contract, token, maker. */
export function affectedListings(
  window: WindowWithKinds,
  listing: Relation,
): RawBuilder<unknown>[] {
  const rules = [
    byOrderHash(window),
    listingsByCounter(window),
    byToken(window),
    byTokenRange(window),
    byHolding(window),
    byApproval(window),
    byChannel(window),
    ...byClock(window),
  ];
  return affectedOrders(window, rules, listing, keyColumns);
}

function changesOf({ changes }: FactWindow, kinds: readonly FactKind[]): RawBuilder<unknown> {
  return sql`from ${changes} where kind in ${kindList(...kinds)}`;
}

const counterKinds = ["counter_incremented", "counter_read"] as const;
const listingsByCounter = (window: FactWindow): AffectedBy => ({
  kinds: counterKinds,
  keys: sql`select distinct from_address as maker ${changesOf(window, counterKinds)}`,
  condition: sql`o.maker = c.maker and o.status <> 'filled'`,
});

/** All listings of an ERC-721 token: a transfer need not name the owner before. */
const ownerKinds = ["erc721_transfer", "owner_read", "token_approval_read"] as const;
const byToken = (window: FactWindow): AffectedBy => ({
  kinds: ownerKinds,
  keys: sql`select distinct contract_id, token_id ${changesOf(window, ownerKinds)}`,
  condition: sql`
    o.contract_id = c.contract_id and o.token_id = c.token_id and o.standard = 721 and ${isOpen}`,
});

const rangeKinds = ["erc721_consecutive_transfer"] as const;
const byTokenRange = (window: FactWindow): AffectedBy => ({
  kinds: rangeKinds,
  keys: rangedAreas(window.changes),
  condition: sql`
    o.contract_id = c.contract_id and o.token_id >= c.first_id and o.token_id < c.end_id
    and o.standard = 721 and ${isOpen}`,
});

const holdingKinds = ["erc1155_transfer", "units_read", "transfer_read"] as const;
const byHolding = (window: FactWindow): AffectedBy => ({
  kinds: holdingKinds,
  keys: sql`
    select contract_id, token_id, from_address as maker ${changesOf(window, holdingKinds)}
    union
    select contract_id, token_id, to_address ${changesOf(window, ["erc1155_transfer"])}`,
  condition: sql`
    o.contract_id = c.contract_id and o.token_id = c.token_id and o.maker = c.maker and ${isOpen}`,
});

const approvalKinds = ["approval_for_all", "approval_read"] as const;
const byApproval = (window: FactWindow): AffectedBy => ({
  kinds: approvalKinds,
  keys: sql`
    select distinct contract_id, from_address as maker ${changesOf(window, approvalKinds)} and to_address = ${conduit}`,
  condition: sql`o.contract_id = c.contract_id and o.maker = c.maker and ${isOpen}`,
});

const channelKinds = ["channel_updated", "channel_read"] as const;
const byChannel = ({ changes }: FactWindow): AffectedBy => ({
  kinds: channelKinds,
  keys: sql`
    select distinct k.chain_id from ${changes} join log.contract k using (contract_id)
    where kind in ${kindList(...channelKinds)} and to_address = ${exchange} and k.address = ${conduit}`,
  condition: sql`o.chain_id = c.chain_id and ${isOpen}`,
});

/** Stored bids that a window's facts may change: chain, order hash. */
export function affectedBids(window: WindowWithKinds, bid: Relation): RawBuilder<unknown>[] {
  const rules = [
    byOrderHash(window),
    bidsByCounter(window),
    byAccount(window),
    byFillOfMaker(window, bid),
    ...byClock(window),
  ];
  return affectedOrders(window, rules, bid, ["chain_id", "order_hash"]);
}

/** Stored bids on one token that a window's transfers may change: chain, order hash. */
export function affectedItemBids(window: WindowWithKinds, bid: Relation): RawBuilder<unknown>[] {
  const rules = [bidsByToken(window), bidsByTokenRange(window)];
  return affectedOrders(window, rules, bid, ["chain_id", "order_hash"]);
}

/** Any transfer, not only those from or to burn addresses: a contract need not name the owner before. */
const moveTokenKinds = ["erc721_transfer", "erc1155_transfer"] as const;
const bidsByToken = (window: FactWindow): AffectedBy => ({
  kinds: moveTokenKinds,
  keys: sql`select distinct contract_id, token_id ${changesOf(window, moveTokenKinds)}`,
  condition: sql`o.contract_id = c.contract_id and o.token_id = c.token_id and ${isOpen}`,
});

const bidsByTokenRange = (window: FactWindow): AffectedBy => ({
  kinds: rangeKinds,
  keys: rangedAreas(window.changes),
  condition: sql`
    o.contract_id = c.contract_id and o.token_id >= c.first_id and o.token_id < c.end_id and ${isOpen}`,
});

const ofMaker = sql`o.maker = c.maker and o.chain_id = c.chain_id`;

const bidCounterKinds = ["counter_incremented", "counter_read"] as const;
const bidsByCounter = ({ changes }: FactWindow): AffectedBy => ({
  kinds: bidCounterKinds,
  keys: sql`
    select distinct k.chain_id, c.from_address as maker from ${changes} c join log.contract k using (contract_id)
    where c.kind in ${kindList(...bidCounterKinds)}`,
  condition: sql`${ofMaker} and o.status <> 'filled'`,
});

const moveKinds = ["erc20_transfer", "wrapped_withdrawal", "wrapped_deposit"] as const;
const allowanceKinds = ["erc20_approval", "allowance_read"] as const;

/** Open bids of accounts whose balance or allowance changed or was read. */
const byAccount = ({ changes }: FactWindow): AffectedBy => ({
  kinds: [...moveKinds, ...allowanceKinds, "balance_read"],
  keys: sql`
    select k.chain_id, k.address as currency, m.maker from (
      select contract_id, from_address as maker from ${changes}
      where kind in ${kindList("erc20_transfer", "wrapped_withdrawal")} and amount > 0
        or kind in ${kindList("balance_read")}
        or kind in ${kindList(...allowanceKinds)} and to_address = ${exchange}
      union
      select contract_id, to_address from ${changes}
      where kind in ${kindList("erc20_transfer", "wrapped_deposit")} and amount > 0
    ) m join log.contract k using (contract_id)`,
  condition: sql`${ofMaker} and o.currency = c.currency and ${isOpen}`,
});

/**
 * Open bids of a maker with a filled bid, which reduced the allowance. The fill may be older in the log than the
 * filled bid, and the filled bid may have left the table.
 */
function byFillOfMaker({ changes, facts, upTo }: FactWindow, bid: Relation): AffectedBy {
  const isFill = sql`kind in ${kindList("order_fulfilled")}`;
  const isBid = sql`kind in ${kindList("order_submitted")} and payload #>> '{terms,side}' = 'bid'`;
  return {
    kinds: ["order_fulfilled", "order_submitted"],
    keys: sql`
      select o.chain_id, o.maker from (select distinct order_hash from ${changes} where ${isFill}) c cross join lateral (
        select b.chain_id, b.maker from ${bid} b where b.order_hash = c.order_hash
        union all
        select k.chain_id, f.from_address from ${facts} f join log.contract k using (contract_id)
        where f.order_hash = c.order_hash and f.${isBid} and f.position <= ${upTo}
          and not exists (select from ${bid} b where b.order_hash = c.order_hash)
        offset 0
      ) o
      union
      select k.chain_id, c.from_address from ${changes} c join log.contract k using (contract_id)
      where c.${isBid} and exists (
        select from ${facts} f where f.order_hash = c.order_hash and f.${isFill} and f.position <= ${upTo}
      )`,
    condition: sql`${ofMaker} and ${isOpen}`,
  };
}

/** Rows from which collecting statistics of the table is cheaper than the plans without them. */
const ANALYZE_ROWS = 500;

/** A table of the session that holds the orders whose state is recomputed. */
type RecomputeTable = {
  readonly orders: Relation;
  open(session: Session): Promise<void>;
  /** Replaces the rows, for one of the targets that share a transaction. Returns how many there are. */
  replace(session: Session, rows: RecomputeRows): Promise<number>;
};

type RecomputeRows = {
  /** Named queries that `insert` reads. */
  queries: readonly RawBuilder<unknown>[];
  /** What follows `insert into` the table: its columns and a query. */
  insert: RawBuilder<unknown>;
  /** All orders of the log, not those of a window. */
  isBulk: boolean;
};

/** `joined`: the columns that statements join by; statistics of all columns of a listing take three times as long. */
export function recomputeTable(
  name: string,
  columns: string,
  joined?: readonly string[],
): RecomputeTable {
  const orders = sql`pg_temp.${sql.ref(name)}`;
  const analyzed = joined === undefined ? sql`` : sql.raw(`(${joined.join(", ")})`);
  return {
    orders,
    open: (session) => openScratchTable(session, name, columns),
    async replace(session, { queries, insert, isBulk }) {
      const emptied = sql`emptied as (delete from ${orders})`;
      const { numAffectedRows } = await sql`
        with ${sql.join([emptied, ...queries])} insert into ${orders} ${insert}`.execute(session);
      const rows = Number(numAffectedRows ?? 0n);
      if (isBulk || rows > ANALYZE_ROWS) await sql`analyze ${orders} ${analyzed}`.execute(session);
      return rows;
    },
  };
}

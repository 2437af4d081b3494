import { type RawBuilder, sql } from "kysely";
import { clockAt } from "../orders/clock.ts";
import { kindsIn } from "../orders/evidence.ts";
import { exchange } from "../orders/venue.ts";

/** Only a bid that can be filled again depends on its maker's account and on the time. */
const isOpen = sql`b.status in ('active', 'inactive')`;

/** For each sort of fact in `change`, the stored bids that it may change: chain and order hash. */
export function touches(bid: RawBuilder<unknown>, upTo: bigint): RawBuilder<unknown>[] {
  /** `keys` are facts, or what they name; each finds its bids by an index, whatever the planner knows of them. */
  const touchedBy = (keys: RawBuilder<unknown>, condition: RawBuilder<unknown>) => sql`
    select b.chain_id, b.order_hash from (${keys}) c cross join lateral (
      select b.chain_id, b.order_hash from ${bid} b where ${condition} offset 0
    ) b`;
  const ofMaker = sql`b.maker = c.maker and b.chain_id = c.chain_id`;
  return [
    touchedBy(ordersNamed, sql`b.order_hash = c.order_hash`),
    touchedBy(makersCounted, sql`${ofMaker} and b.status <> 'filled'`),
    touchedBy(accountsMoved, sql`${ofMaker} and b.currency = c.currency and ${isOpen}`),
    touchedBy(payersOfFills(bid, upTo), sql`${ofMaker} and ${isOpen}`),
    touchedBy(moment(upTo), sql`b.end_time <= c.clock and ${isOpen}`),
    touchedBy(moment(upTo), sql`b.start_time <= c.clock and b.reason = 'not_started'`),
  ];
}

const ordersNamed = sql`
  select distinct order_hash from change
  where kind in ${kindsIn("order_fulfilled", "order_cancelled", "order_status_read", "signature_read")}`;

const makersCounted = sql`
  select distinct k.chain_id, c.from_address as maker from change c join log.contract k using (contract_id)
  where c.kind in ${kindsIn("counter_incremented", "counter_read")}`;

/** Accounts of a currency that gave or got, or of which an allowance or a reading tells. */
const accountsMoved = sql`
  select k.chain_id, k.address as currency, m.maker from (
    select contract_id, from_address as maker from change
    where kind in ${kindsIn("erc20_transfer", "wrapped_withdrawal", "balance_read")}
      or kind in ${kindsIn("erc20_approval", "allowance_read")} and to_address = ${exchange}
    union
    select contract_id, to_address from change where kind in ${kindsIn("erc20_transfer", "wrapped_deposit")}
  ) m join log.contract k using (contract_id)`;

/** A fill takes from the allowance of the maker's other bids, also one that the log knew before its order. */
function payersOfFills(bid: RawBuilder<unknown>, upTo: bigint): RawBuilder<unknown> {
  const isFill = sql`kind in ${kindsIn("order_fulfilled")}`;
  return sql`
    select b.chain_id, b.maker from (select distinct order_hash from change where ${isFill}) c cross join lateral (
      select b.chain_id, b.maker from ${bid} b where b.order_hash = c.order_hash offset 0
    ) b
    union
    select k.chain_id, c.from_address from change c join log.contract k using (contract_id)
    where c.kind in ${kindsIn("order_submitted")} and c.payload #>> '{terms,side}' = 'bid' and exists (
      select from log.fact f where f.order_hash = c.order_hash and f.${isFill} and f.position <= ${upTo}
    )`;
}

function moment(upTo: bigint): RawBuilder<unknown> {
  return sql`
    select ${clockAt(upTo)} as clock where exists (select from change where kind in ${kindsIn("clock_ticked")})`;
}

import { type RawBuilder, sql } from "kysely";
import { holdsAny } from "../engine/window.ts";
import type { FactKind } from "../log/fact-kind.ts";
import { clockAt } from "../order-state/clock.ts";
import { kindsIn } from "../order-state/evidence.ts";
import { exchange } from "../order-state/venue.ts";

/** Only a bid that can be filled again depends on its maker's account and on the time. */
const isOpen = sql`b.status in ('active', 'inactive')`;
const ofMaker = sql`b.maker = c.maker and b.chain_id = c.chain_id`;

/** Facts of these kinds name bids, by `keys` and what joins a bid `b` to such a key `c`. */
type Touch = {
  kinds: readonly FactKind[];
  keys: RawBuilder<unknown>;
  condition: RawBuilder<unknown>;
};

/** For each sort of fact in `change`, of the kinds at hand, the stored bids that it may change: chain and order hash. */
export function touchedBy(
  kinds: ReadonlySet<number>,
  bid: RawBuilder<unknown>,
  upTo: bigint,
): RawBuilder<unknown>[] {
  return touches(bid, upTo)
    .filter((touch) => holdsAny(kinds, touch.kinds))
    .map(
      // Each key finds its bids by an index, whatever the planner knows of them.
      ({ keys, condition }) => sql`
        select b.chain_id, b.order_hash from (${keys}) c cross join lateral (
          select b.chain_id, b.order_hash from ${bid} b where ${condition} offset 0
        ) b`,
    );
}

function touches(bid: RawBuilder<unknown>, upTo: bigint): Touch[] {
  return [
    { kinds: orderKinds, keys: ordersNamed, condition: sql`b.order_hash = c.order_hash` },
    {
      kinds: counterKinds,
      keys: makersCounted,
      condition: sql`${ofMaker} and b.status <> 'filled'`,
    },
    {
      kinds: [...moveKinds, ...allowanceKinds, "wrapped_deposit"],
      keys: accountsMoved,
      condition: sql`${ofMaker} and b.currency = c.currency and ${isOpen}`,
    },
    {
      kinds: ["order_fulfilled", "order_submitted"],
      keys: payersOfFills(bid, upTo),
      condition: sql`${ofMaker} and ${isOpen}`,
    },
    ...moments(upTo),
  ];
}

const orderKinds = [
  "order_fulfilled",
  "order_cancelled",
  "order_status_read",
  "signature_read",
] as const;
const ordersNamed = sql`
  select distinct order_hash from change where kind in ${kindsIn(...orderKinds)}`;

const counterKinds = ["counter_incremented", "counter_read"] as const;
const makersCounted = sql`
  select distinct k.chain_id, c.from_address as maker from change c join log.contract k using (contract_id)
  where c.kind in ${kindsIn(...counterKinds)}`;

const moveKinds = ["erc20_transfer", "wrapped_withdrawal", "balance_read"] as const;
const allowanceKinds = ["erc20_approval", "allowance_read"] as const;

/** Accounts of a currency that gave or got, or of which an allowance or a reading tells. */
const accountsMoved = sql`
  select k.chain_id, k.address as currency, m.maker from (
    select contract_id, from_address as maker from change
    where kind in ${kindsIn(...moveKinds)}
      or kind in ${kindsIn(...allowanceKinds)} and to_address = ${exchange}
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

/** Bids that begin or end at a moment that has come. */
function moments(upTo: bigint): Touch[] {
  const kinds = ["clock_ticked"] as const;
  const keys = sql`select ${clockAt(upTo)} as clock`;
  return [
    { kinds, keys, condition: sql`b.end_time <= c.clock and ${isOpen}` },
    { kinds, keys, condition: sql`b.start_time <= c.clock and b.reason = 'not_started'` },
  ];
}

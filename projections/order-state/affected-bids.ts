import { type RawBuilder, sql } from "kysely";
import type { FactWindow, Relation, WindowWithKinds } from "../engine/projection.ts";
import { kindList } from "../log/fact-kinds.ts";
import { type AffectedBy, affectedOrders, byClock, byOrderHash } from "./affected-orders.ts";
import { exchange } from "./exchange-contracts.ts";
import { isOpen } from "./status-sql.ts";

/** Stored bids that a window's facts may change: chain, order hash. */
export function affectedBids(window: WindowWithKinds, bid: Relation): RawBuilder<unknown>[] {
  const rules = [
    byOrderHash(window),
    byCounter(window),
    byAccount(window),
    byFillOfMaker(window, bid),
    ...byClock(window),
  ];
  return affectedOrders(window, rules, bid, ["chain_id", "order_hash"]);
}

const ofMaker = sql`o.maker = c.maker and o.chain_id = c.chain_id`;

const counterKinds = ["counter_incremented", "counter_read"] as const;
const byCounter = ({ changes }: FactWindow): AffectedBy => ({
  kinds: counterKinds,
  keys: sql`
    select distinct k.chain_id, c.from_address as maker from ${changes} c join log.contract k using (contract_id)
    where c.kind in ${kindList(...counterKinds)}`,
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

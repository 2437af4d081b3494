import { type RawBuilder, sql } from "kysely";
import { kindList } from "../log/fact-kinds.ts";
import { exchangeContracts } from "../order-state/exchange-contracts.ts";
import { isEffective, latestFacts, latestReadings, type RecomputeSet } from "../order-state/select-facts.ts";

/** An allowance that spending does not reduce. WETH9 `transferFrom`. */
const UNLIMITED = sql.raw(`${2n ** 256n - 1n}`);

const account = { contract_id: "contract_id", from_address: "maker" };

/** The balance that a reading `o`, the only row of `recompute.orders`, is compared with: `amount`; zero without a fact. */
export function knownBalances(recompute: RecomputeSet): RawBuilder<unknown> {
  const read = latestReadings(recompute, { kinds: ["balance_read"], subject: account });
  const since = sql`
    f.contract_id = o.contract_id and f.block_id >= coalesce(((r.block_id >> 12) + 1) << 12, 0) and ${isEffective(recompute)}`;
  return sql`
    select coalesce(r.amount, 0) + moved.wei as amount
    from (select) one left join (${read}) r on true
    cross join lateral (
      select coalesce(sum(leg.wei), 0) as wei
      from (
        select f.amount as wei from ${recompute.facts} f
        where f.to_address = o.maker and f.kind in ${kindList("erc20_transfer", "wrapped_deposit")} and ${since}
        union all
        select -f.amount from ${recompute.facts} f
        where f.from_address = o.maker and f.kind in ${kindList("erc20_transfer", "wrapped_withdrawal")} and ${since}
      ) leg
    ) moved`;
}

/** The same of the allowance to the exchange, less fills of bids. */
export function knownAllowances(recompute: RecomputeSet): RawBuilder<unknown> {
  const approved = latestFacts(recompute, {
    kinds: ["erc20_approval", "allowance_read"],
    subject: { ...account, to_address: "to_address" },
  });
  return sql`
    select case when a.amount is distinct from ${UNLIMITED}
                       then greatest(coalesce(a.amount, 0) - spent.wei, 0) else a.amount end as amount
    from (select) one left join (${approved}) a on true
    cross join lateral (
      select coalesce(sum(item.wei), 0) as wei
      from bids.bid b
      join ${recompute.facts} f on f.order_hash = b.order_hash and f.kind in ${kindList("order_fulfilled")}
      cross join lateral (
        select sum((entry ->> 'amount')::numeric) as wei
        from jsonb_array_elements(f.payload -> 'offer') entry where (entry ->> 'itemType')::int = 1
      ) item
      where b.maker = o.maker and b.chain_id = o.chain_id and b.filled_block_id is not null
        and f.contract_id = (select v.exchange_id from (${exchangeContracts}) v where v.chain_id = o.chain_id)
        and (f.block_id >> 12, f.log_index) > (a.block_id >> 12, coalesce(a.log_index, 2147483647))
        and ${isEffective(recompute)}
    ) spent`;
}

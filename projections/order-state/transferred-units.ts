import { type RawBuilder, sql } from "kysely";
import { kindList } from "../log/fact-kind-sql.ts";
import { isEffective, type RecomputeSet } from "./select-facts.ts";

/**
 * `units` that transfers up to the end of a reading's block gave its maker. The reading less this is the error of the
 * sum of transfers. The reading `r` has `contract_id`, `token_id`, `maker`, `block_id`.
 */
export function unitsTransferredUpTo(recompute: RecomputeSet): RawBuilder<unknown> {
  return sql`
    select coalesce(sum(
             case when f.to_address = r.maker then f.amount else 0 end
             - case when f.from_address = r.maker then f.amount else 0 end
           ), 0) as units
    from ${recompute.facts} f
    where f.kind in ${kindList("erc1155_transfer")} and f.contract_id = r.contract_id and f.token_id = r.token_id
      and f.block_id < ((r.block_id >> 12) + 1) << 12 and ${isEffective(recompute)}`;
}

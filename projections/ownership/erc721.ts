import { sql } from "kysely";
import { isBurnAddress } from "../burn-address.ts";
import type { Session } from "../database.ts";

/**
 * Tokens that one ConsecutiveTransfer gives owners at most. ERC-2309 sets no limit and a log costs the same for any
 * range; the usual contracts stay at 5,000.
 */
const RANGE_TOKENS = 10_000;

/** An ERC-721 token's owner is the receiver of its last transfer in chain order, single or in a range. */
export async function applyErc721(session: Session, schema: string, upTo: bigint): Promise<void> {
  const range = sql.raw(String(RANGE_TOKENS));
  const counts = sql`f.position <= ${upTo} and not exists (select from dropped d where d.block_id = f.block_id)`;
  await sql`
    with touched as (
      select contract_id, token_id from change where kind = 10
      union
      select contract_id, token_id + step
      from change cross join lateral generate_series(0, least(amount, ${range}) - 1) step
      where kind = 11
    ), derived as (
      select t.contract_id, t.token_id, last.to_address as owner
      from touched t
      left join lateral (
        select e.to_address from (
          (select f.to_address, f.block_id, f.log_index from log.fact f
           where f.kind = 10 and f.contract_id = t.contract_id and f.token_id = t.token_id and ${counts}
           order by f.block_id desc, f.log_index desc limit 1)
          union all
          (select f.to_address, f.block_id, f.log_index from log.fact f
           where f.kind = 11 and f.contract_id = t.contract_id and ${counts}
             and f.token_id <= t.token_id and f.token_id > t.token_id - ${range}
             and t.token_id < f.token_id + f.amount
           order by f.block_id desc, f.log_index desc limit 1)
        ) e order by e.block_id desc, e.log_index desc limit 1
      ) last on true
    ), changed as materialized (
      select d.contract_id, d.token_id, d.owner, ${isBurnAddress(sql`d.owner`)} as is_burned,
             o.owner as old_owner, o.is_burned as old_burned
      from derived d
      left join ${sql.table(`${schema}.token`)} o
        on o.contract_id = d.contract_id and o.token_id = d.token_id and o.standard = 721
      where d.owner is distinct from o.owner
    ), removed as (
      delete from ${sql.table(`${schema}.token`)} t using changed c
      where c.owner is null and t.contract_id = c.contract_id and t.token_id = c.token_id and t.standard = 721
    ), stored as (
      insert into ${sql.table(`${schema}.token`)} (contract_id, token_id, standard, owner, supply, is_burned)
      select contract_id, token_id, 721, owner, case when is_burned then 0 else 1 end, is_burned
      from changed where owner is not null
      on conflict (contract_id, token_id, standard) do update
        set owner = excluded.owner, supply = excluded.supply, is_burned = excluded.is_burned
    ), holdings as (
      insert into holding_change (contract_id, owner, ids)
      select contract_id, old_owner, -1 from changed where not old_burned
      union all
      select contract_id, owner, 1 from changed where not is_burned
    )
    insert into collection_change (contract_id, erc721_tokens, tokens, supply, units)
    select contract_id, sum(tokens), sum(tokens), sum(supply), sum(supply)
    from (
      select contract_id, (owner is not null)::int - (old_owner is not null)::int as tokens,
             (owner is not null and not is_burned)::int - (old_owner is not null and not old_burned)::int as supply
      from changed
    ) counted
    group by contract_id`.execute(session);
}

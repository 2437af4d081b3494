import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { hasEnded } from "../orders/order-columns.ts";

/** Wei of wrapped currency that a maker's bids may still spend: those active, and those that only lack allowance. */
export async function readOpenBidsWei(
  db: Database,
  chainId: number,
  maker: Address,
  now: Date,
): Promise<bigint> {
  const { rows } = await sql<{ wei: bigint }>`
    select coalesce(sum(o.unit_price_wei * (o.quantity - o.filled)), 0) as wei
    from bids.bid o
    where o.maker = ${bytea(maker)} and o.chain_id = ${chainId}
      and o.status in ('active', 'inactive')
      and (o.status = 'active' or o.reason = 'insufficient_allowance') and not ${hasEnded(now)}`.execute(
    db,
  );
  return rows[0]?.wei ?? 0n;
}

import { sql } from "kysely";
import type { Hex } from "viem";
import type { UnitTrade } from "../domain/trade-profit.ts";
import { isPaidNatively } from "../engine/usd.ts";
import { blockIdRange } from "../log/blocks.ts";
import type { Database } from "../log/database.ts";
import { bytea } from "../log/sql-values.ts";

/** A sale from the view of one of its sides. */
export type WalletTrade = UnitTrade & {
  readonly isWash: boolean;
  /** Paid in the chain's coin or its wrapped form. */
  readonly isInCoin: boolean;
};

/**
 * Purchases and sales of a wallet on a chain, oldest first; with itself once, as a purchase. Null: more than `most` on one
 * side.
 */
export async function readWalletTrades(
  db: Database,
  { chainId, wallet }: { chainId: number; wallet: Hex },
  most: number,
): Promise<WalletTrade[] | null> {
  const { from, to } = blockIdRange(chainId);
  const [own, limit] = [bytea(wallet), most + 1];
  const onChain = sql`s.block_id >= ${from}::bigint and s.block_id < ${to}::bigint`;
  const newest = sql`order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit ${limit}`;
  const { rows } = await sql<WalletTrade>`
    with bought as materialized (
      select s.* from sales.sale s where s.buyer = ${own} and ${onChain} ${newest}
    ), sold as materialized (
      select s.* from sales.sale s where s.seller = ${own} and s.buyer <> ${own} and ${onChain} ${newest}
    )
    select s.contract_id || '/' || s.token_id as token, s.is_purchase as "isPurchase", s.quantity::numeric as units,
           case when s.is_purchase then s.total_wei
                else s.total_wei - (
                  select coalesce(sum((fee ->> 'wei')::numeric), 0) from jsonb_array_elements(s.fees) fee
                ) end as wei,
           w.rule is not null as "isWash", ${isPaidNatively} as "isInCoin"
    from (select *, true as is_purchase from bought union all select *, false from sold) s
    left join sales.wash_trade w
      on w.block_id = s.block_id and w.transaction_index = s.transaction_index and w.ordinal = s.ordinal
    where (select count(*) from bought) <= ${most} and (select count(*) from sold) <= ${most}
    order by s.block_id, s.transaction_index, s.ordinal`.execute(db);
  if (rows.length > 0) return rows;
  const { rows: any } = await sql`
    select from sales.sale s where ${own} in (s.buyer, s.seller) and ${onChain} limit 1`.execute(
    db,
  );
  return any.length > 0 ? null : [];
}

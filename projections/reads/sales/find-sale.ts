import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { bytea, storedRow } from "#projections/log/sql-values.ts";
import { washTradeOfSale } from "./sale-columns.ts";

/** The row of a sale with the rule by which it is a wash trade, and the transaction it was made from; several while two live blocks hold that transaction. */
export type FoundSale = { row: Record<string, unknown>; blockId: bigint; transactionIndex: number };

export async function findSales(db: Database, saleId: Hex): Promise<FoundSale[]> {
  const { rows } = await sql<FoundSale>`
    select ${storedRow(sql`s`)} || jsonb_build_object('wash_trade', wash.rule) as row,
           s.block_id as "blockId", s.transaction_index as "transactionIndex"
    from sales.sale s ${washTradeOfSale}
    where s.sale_id = ${bytea(saleId)} order by s.block_id`.execute(db);
  return rows;
}

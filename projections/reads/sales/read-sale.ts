import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import { bytea } from "#projections/log/sql-values.ts";
import { newestFirst } from "./order.ts";
import { type SaleRow, saleColumns, saleNames } from "./sale-columns.ts";

/** The sale with an id; of two live blocks with its transaction the higher one. */
export async function readSale(
  db: Database,
  chainId: number,
  saleId: Hex,
): Promise<SaleRow | null> {
  const { rows } = await sql<SaleRow>`
    select ${saleColumns()} from sales.sale s ${saleNames}
    where s.sale_id = ${bytea(saleId)} and s.chain_id = ${chainId} ${newestFirst} limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}

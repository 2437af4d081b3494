import { sql } from "kysely";
import type { Session } from "../database.ts";
import { askedTokens, nameOfToken, type TokenPlace } from "../token-place.ts";
import { naming, type SaleRow, saleColumns } from "./shown.ts";

/** Of each token, by its name, the last sale. */
export async function readLastSales(
  db: Session,
  places: readonly TokenPlace[],
): Promise<Map<string, SaleRow>> {
  const { rows } = await sql<SaleRow & { contractId: number }>`
    select ${saleColumns}, s.contract_id as "contractId"
    from ${askedTokens(places)} cross join lateral (
      select s.* from sales.sale s
      where s.contract_id = asked.contract_id and s.token_id = asked.token_id
      order by s.block_id desc, s.transaction_index desc, s.ordinal desc limit 1
    ) s ${naming}`.execute(db);
  return new Map(rows.map((row) => [nameOfToken(row), row]));
}

import { sql } from "kysely";
import { assertFoldable, mostFolded } from "../engine/fold-budget.ts";
import { happenedBy, type Point, retractedCte } from "../engine/point.ts";
import type { Database } from "../log/database.ts";
import { kindList, kindLiteral } from "../log/fact-kinds.ts";

/** Two moments of one chain, read at the same position. */
export type Span = { readonly from: Point; readonly to: Point };

export type MovedToken = { readonly contractId: number; readonly tokenId: bigint };

/**
 * Ids of contracts that transfers of the span name, alone or in ranges, by contract and id: no other changed hands in it.
 * Throws `TooMuchToFold`.
 */
export async function readMovedTokens(
  db: Database,
  contractIds: readonly number[],
  { from, to }: Span,
  { limit, after }: { limit: number; after: MovedToken | null },
): Promise<MovedToken[]> {
  const behind =
    after === null
      ? sql`true`
      : sql`(contract_id, token_id) > (${after.contractId}::int, ${`${after.tokenId}`}::numeric)`;
  const range = kindLiteral("erc721_consecutive_transfer");
  const kinds = kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer");
  const { rows } = await sql<{
    contractId: number | null;
    tokenId: bigint;
    facts: number;
    ids: bigint;
  }>`
    with ${retractedCte(to)}, moved as materialized (
      select f.contract_id, f.token_id, f.amount, f.kind from log.fact f
      where f.kind in ${kinds} and f.contract_id = any (${contractIds}::int[]) and f.block_id >= ${from.endId}::bigint
        and ${happenedBy(to)}
      limit ${mostFolded + 1}
    ), counted as materialized (
      select count(*)::int as facts, coalesce(sum(least(amount, ${mostFolded + 1})) filter (where kind = ${range}), 0)::bigint as ids
      from moved
    ), id as (
      select contract_id, token_id from moved where kind <> ${range}
      union
      select m.contract_id, m.token_id + step
      from (select * from moved where kind = ${range} and amount > 0 and (select ids from counted) <= ${mostFolded}) m
      cross join lateral generate_series(0, m.amount - 1) step
    )
    select id.contract_id as "contractId", id.token_id as "tokenId", counted.*
    from counted left join (
      select * from id where ${behind} order by contract_id, token_id limit ${limit}
    ) id on true
    order by id.contract_id, id.token_id`.execute(db);
  assertFoldable(rows[0]?.facts ?? 0, Number(rows[0]?.ids ?? 0));
  return rows.flatMap(({ contractId, tokenId }) =>
    contractId === null ? [] : [{ contractId, tokenId }],
  );
}

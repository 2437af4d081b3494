import { type RawBuilder, sql } from "kysely";
import { type Ids, unionOf } from "../domain/id-runs.ts";
import { kindLiteral } from "../log/fact-kinds.ts";

/** Ids by contract: of each disjoint, by id. */
export type Areas = ReadonlyMap<number, readonly Ids[]>;

export function byContract<Of extends { contractId: number }>(
  rows: readonly Of[],
): Map<number, Of[]> {
  const groups = new Map<number, Of[]>();
  for (const row of rows) {
    const group = groups.get(row.contractId);
    if (group === undefined) groups.set(row.contractId, [row]);
    else group.push(row);
  }
  return groups;
}

export function areasOf(ids: readonly (Ids & { contractId: number })[]): Areas {
  return new Map([...byContract(ids)].map(([contractId, own]) => [contractId, unionOf(own)]));
}

/** SQL: the areas as rows `area` (contract_id, first_id, end_id). */
export function areaRows(areas: Areas): RawBuilder<unknown> {
  const rows = [...areas].flatMap(([contractId, ids]) =>
    ids.map((one) => ({ contractId, ...one })),
  );
  return sql`unnest(
    ${rows.map(({ contractId }) => contractId)}::int[], ${rows.map(({ first }) => `${first}`)}::numeric[],
    ${rows.map(({ end }) => `${end}`)}::numeric[]
  ) area (contract_id, first_id, end_id)`;
}

/**
 * SQL: selects the ids of the ranges among facts, as rows like `area`. Merged: whatever is joined with them is found once,
 * however many events of one contract name it.
 */
export function rangedAreas(facts: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select contract_id, lower(ids) as first_id, upper(ids) as end_id
    from (
      select contract_id, unnest(range_agg(numrange(token_id, token_id + amount))) as ids from ${facts}
      where kind = ${kindLiteral("erc721_consecutive_transfer")} and amount > 0 group by contract_id
    ) merged`;
}

import { type RawBuilder, sql } from "kysely";
import { type Ids, unionOf } from "../domain/id-runs.ts";

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

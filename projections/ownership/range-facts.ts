import { type RawBuilder, sql } from "kysely";
import type { Session } from "../log/database.ts";
import { type Ids, latestRuns, unionOf, within, without } from "../domain/id-runs.ts";
import type { FactWindow } from "../engine/projection.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { type Areas, areaRows, groupByContract } from "../engine/token-ids.ts";
import type { OwnedRun } from "./run-rows.ts";

/** SQL: kind and condition of ranges that hold an id; the standard says that the last is not below the first. */
export const isRange = sql`f.kind = ${kindLiteral("erc721_consecutive_transfer")} and f.amount > 0`;

/** SQL: a ConsecutiveTransfer `f` as a run. */
export const rangeColumns = sql`
  f.contract_id as "contractId", f.token_id as first, f.token_id + f.amount as end, f.to_address as owner,
  f.block_id as "blockId", f.log_index as "logIndex"`;

/** Facts that are in memory at once. */
const PAGE = 10_000;
const everyId: readonly Ids[] = [{ first: 0n, end: 2n ** 257n }];

/**
 * For each id of the areas (of all contracts, without any) its last effective range, from the log, contract by contract.
 * Ranges are read latest first and no further than until every id has one: a contract may have any number of them.
 */
export async function readLastRanges(
  session: Session,
  window: FactWindow,
  areas: Areas | undefined,
  onRuns: (runs: OwnedRun[]) => Promise<void>,
): Promise<void> {
  await sql`declare range_fact no scroll cursor for ${rangeFacts(window, areas)}`.execute(session);
  const missing = new Map<number, readonly Ids[]>(areas ?? []);
  for (;;) {
    const { rows } = await sql<OwnedRun>`fetch ${sql.lit(PAGE)} from range_fact`.execute(session);
    const found: OwnedRun[] = [];
    for (const [contractId, ranges] of groupByContract(rows)) {
      const wanted = missing.get(contractId) ?? everyId;
      found.push(...within(latestRuns(ranges), wanted));
      missing.set(contractId, without(wanted, unionOf(ranges)));
    }
    await onRuns(found);
    const isCovered = areas !== undefined && [...missing.values()].every((ids) => ids.length === 0);
    if (rows.length < PAGE || isCovered) break;
  }
  await sql`close range_fact`.execute(session);
}

function rangeFacts(window: FactWindow, areas: Areas | undefined): RawBuilder<unknown> {
  const isEffective = sql`
    f.position <= ${sql.raw(window.upTo.toString())}
    and f.block_id not in (select block_id from ${window.retractedBlocks})`;
  const isWanted =
    areas === undefined
      ? sql``
      : sql`
        join (
          select contract_id, min(first_id) as first_id, max(end_id) as end_id from ${areaRows(areas)} group by contract_id
        ) area on f.contract_id = area.contract_id and f.token_id < area.end_id and f.token_id + f.amount > area.first_id`;
  return sql`
    select ${rangeColumns} from ${window.facts} f ${isWanted}
    where ${isRange} and ${isEffective}
    order by f.contract_id, f.block_id desc, f.log_index desc`;
}

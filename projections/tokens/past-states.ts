import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { Run } from "../domain/id-runs.ts";
import { mostFolded } from "../engine/fold-budget.ts";
import { happenedBy, type Point, retractedCte } from "../engine/point.ts";
import { kindLiteral } from "../log/fact-kinds.ts";
import { isBurnAddress } from "../log/sql-values.ts";
import { unitWalks } from "./apply-erc1155.ts";
import { isRange } from "./range-rows.ts";

/** What an owner had of an id at a point. */
export type PastState = {
  contractId: number;
  tokenId: bigint;
  standard: 721 | 1155;
  /** null: nobody has any of an ERC-1155 id that was moved. */
  owner: Hex | null;
  units: bigint;
  /** Of an ERC-1155 id: whether units of it had been sent to a burn address. */
  wasBurned: boolean;
  /** Of an ERC-721 token: its last single transfer. */
  blockId: bigint | null;
  logIndex: number | null;
};

/**
 * SQL: CTEs `past_moved`, `past_id`, `past_unit` (contract_id, token_id, owner, units) and `past_single` (contract_id, token_id, owner,
 * block_id, log_index): the balances and the last single transfers, at a point, of the ids of `wanted` (contract_id, token_id,
 * has_units), by the statements that derive today's rows. `has_units`: ERC-1155 transfers have moved the id by now. Follow
 * `retractedCte`.
 */
export function pastStateCtes(point: Point): RawBuilder<unknown> {
  return sql`
    past_moved as materialized (
      select f.* from wanted w
      cross join lateral (
        select f.contract_id, f.token_id, f.block_id, f.log_index, f.sub_index, f.from_address, f.to_address, f.amount, 1 as weight
        from log.fact f
        where f.kind = ${kindLiteral("erc1155_transfer")} and f.contract_id = w.contract_id and f.token_id = w.token_id
          and ${happenedBy(point)}
        offset 0
      ) f
      where w.has_units limit ${mostFolded + 1}
    ), past_unit as materialized (
      select contract_id, token_id, owner, units - lowest as units
      from (${unitWalks(sql`select * from past_moved`)}) walk where units > lowest
    ), past_id as materialized (
      select contract_id, token_id, bool_or(amount > 0 and ${isBurnAddress(sql`to_address`)}) as was_burned
      from past_moved group by contract_id, token_id
    ), past_single as materialized (
      select w.contract_id, w.token_id, f.to_address as owner, f.block_id, f.log_index
      from wanted w
      cross join lateral (
        select f.to_address, f.block_id, f.log_index from log.fact f
        where f.kind = ${kindLiteral("erc721_transfer")} and f.contract_id = w.contract_id and f.token_id = w.token_id
          and ${happenedBy(point)}
        order by f.block_id desc, f.log_index desc limit 1
      ) f
      where not w.has_units or (w.contract_id, w.token_id) not in (select contract_id, token_id from past_id)
    )`;
}

/** SQL: whether ERC-1155 transfers have moved an id of `w` by now. */
export const hasUnits = sql`exists (
  select from ownership.token many
  where many.contract_id = w.contract_id and many.token_id = w.token_id and many.standard = 1155)`;

/** SQL: rows like `PastState` of `pastStateCtes`. */
export const pastStates = sql`
  select i.contract_id as "contractId", i.token_id as "tokenId", 1155 as standard, u.owner, coalesce(u.units, 0) as units,
         i.was_burned as "wasBurned", null::bigint as "blockId", null::int as "logIndex"
  from past_id i left join past_unit u using (contract_id, token_id)
  union all
  select contract_id, token_id, 721, owner, 1, false, block_id, log_index from past_single`;

/** SQL: number of the facts that `pastStateCtes` folds, one too many at most. */
export const foldedFacts = sql`(select count(*)::int from past_moved)`;

/** SQL: ConsecutiveTransfers `f` that count at a point, of contracts, latest first. */
export function pastRanges(point: Point, where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    with ${retractedCte(point)}
    select f.* from log.fact f
    where ${isRange} and ${where} and ${happenedBy(point)}
    order by f.block_id desc, f.log_index desc limit ${mostFolded + 1}`;
}

/** Finds the run of an id among disjoint ones, which are by id. */
export function runFinder<Of extends Run>(runs: readonly Of[]): (id: bigint) => Of | undefined {
  return (id) => {
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((runs[middle]?.first ?? id) <= id) low = middle + 1;
      else high = middle;
    }
    const run = runs[low - 1];
    return run !== undefined && id < run.end ? run : undefined;
  };
}

/** Whether a single transfer came after a range that holds its id. */
export function isLaterThan(
  { blockId, logIndex }: Pick<PastState, "blockId" | "logIndex">,
  run: Run | undefined,
): boolean {
  if (run === undefined || blockId === null || logIndex === null) return true;
  return blockId === run.blockId ? logIndex > run.logIndex : blockId > run.blockId;
}

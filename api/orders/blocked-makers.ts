import { sql } from "kysely";
import type { Address } from "viem";
import { type IntakeCode, rejectField } from "#projections/domain/intake-codes.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { bytea, byteaArray } from "#projections/log/sql-values.ts";

export type BlockedMaker = { address: Address; reason: string | null; blockedAt: Date };

/** Those of the makers that an operator blocked. */
export async function readBlocked(
  db: Database,
  makers: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const { rows } = await sql<{ address: Address }>`
    select address from ops.blocked_maker where address = any (${byteaArray([...new Set(makers)])})`.execute(
    db,
  );
  return new Set(rows.map(({ address }) => address));
}

/** All of them, the latest first. */
export async function readAllBlocked(db: Database): Promise<BlockedMaker[]> {
  const { rows } = await sql<BlockedMaker>`
    select address, reason, blocked_at as "blockedAt" from ops.blocked_maker order by blocked_at desc, address`.execute(
    db,
  );
  return rows;
}

/** Blocks a maker from submitting orders, or replaces the reason. */
export async function blockMaker(
  db: Database,
  maker: Address,
  reason: string | null,
): Promise<void> {
  await sql`
    insert into ops.blocked_maker (address, reason) values (${bytea(maker)}, ${reason})
    on conflict (address) do update set reason = excluded.reason`.execute(db);
}

/** Returns whether the maker was blocked. */
export async function unblockMaker(db: Database, maker: Address): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from ops.blocked_maker where address = ${bytea(maker)}`.execute(db);
  return numAffectedRows === 1n;
}

export function rejectBlocked(maker: Address): Rejection<IntakeCode> {
  return rejectField("maker_blocked", {
    field: "parameters.offerer",
    expected: "a maker that is not blocked",
    actual: maker,
    message: `the operator of this market does not accept orders of ${maker}`,
  });
}

import { sql } from "kysely";
import type { Address } from "viem";
import { isRejection } from "#projections/domain/rejection.ts";
import { resolvePoint } from "#projections/engine/point.ts";
import type { Projection } from "#projections/engine/projection.ts";
import type { Database } from "#projections/log/database.ts";
import { type Moment, momentOf } from "#projections/past/moment.ts";
import { stoppedFacts } from "./book-history.ts";
import { type BookStep, openProjectedLog } from "./projected-log.ts";

/** A log in which a history of a book is played, and one that is stopped at a block of it. */
export async function openPlayedBook(projections: readonly Projection[]) {
  const live = await openProjectedLog(projections);
  /** It has what was there by then, and no later clock. */
  const stopped = await openProjectedLog(projections);
  return {
    live,
    stopped,
    async play(history: readonly BookStep[]): Promise<void> {
      await live.clear();
      for (const step of history) await live.appendStep(step);
      await live.happens();
    },
    /** The moment of a block, at which the other log is then; null: before the first block. */
    async stopAt(height: number, history: readonly BookStep[]): Promise<Moment | null> {
      const named = { block: BigInt(height) };
      const point = await resolvePoint(live.db, 1, named);
      if (isRejection(point)) return null;
      const moment = await momentOf(live.db, point, named);
      const clock = BigInt(Math.floor(moment.clock.getTime() / 1_000));
      await stopped.clear();
      await stopped.happens(...stoppedFacts(history, { height, clock }));
      return moment;
    },
    async drop(): Promise<void> {
      await live.drop();
      await stopped.drop();
    },
  };
}

/** Ids of a contract of chain 1: one, or none before its first fact. */
export async function knownContractIds(db: Database, contract: Address): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select contract_id as id from log.contract
    where address = decode(${contract.slice(2)}, 'hex') and chain_id = 1`.execute(db);
  return rows.map(({ id }) => id);
}

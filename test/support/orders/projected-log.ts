import { sql } from "kysely";
import { dropTarget, type Target } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { appendObservations, type Observation } from "#projections/log/append.ts";
import { schemaOf } from "#projections/log/versions.ts";
import {
  appendEvents,
  type Block,
  type ChainEvent,
  createProjection,
  project,
  setBlocks,
} from "../database/given.ts";
import { createDatabase } from "../database/postgres.ts";
import type { GivenOrder } from "./order-facts.ts";

export type Fact = ChainEvent | Observation;

/** What happens to a book, one step after the other: facts, or blocks that leave the chain and come back. */
export type BookStep =
  | { readonly facts: readonly Fact[] }
  | { readonly block: Block; readonly isRetracted: boolean };

/** A log and some projections of it. */
export async function openProjectedLog(projections: readonly Projection[]) {
  const { db, url, drop } = await createDatabase();
  let targets: Target[] = [];

  async function happens(...facts: Fact[]): Promise<void> {
    await appendFacts(facts);
    await project(db, targets);
  }

  /** One append per fact: recorder and intake are separate processes. */
  async function appendFacts(facts: readonly Fact[]): Promise<void> {
    for (const fact of facts) {
      if ("identity" in fact) await appendObservations(db, [fact]);
      else await appendEvents(db, [fact]);
    }
  }

  async function appendStep(step: BookStep): Promise<void> {
    if ("facts" in step) return await appendFacts(step.facts);
    await setBlocks(db, step.isRetracted ? "block_retracted" : "block_readopted", [step.block]);
  }

  async function emptyTargets(): Promise<readonly Target[]> {
    for (const { name } of projections) await dropTarget(db, schemaOf(name));
    targets = [];
    for (const one of projections) targets.push(await createProjection(db, one));
    return targets;
  }

  return {
    db,
    url,
    drop,
    happens,
    appendFacts,
    appendStep,
    /** Empty tables, at position 0. */
    emptyTargets,
    /** An empty log and empty tables. */
    async clear(): Promise<void> {
      await emptyTargets();
      await sql`
        truncate log.fact, log.block, log.transaction, log.contract, ops.order_recheck,
          engine.book, engine.book_order, engine.book_price, engine.order_event
        restart identity`.execute(db);
      await sql`update log.head set position = 0`.execute(db);
    },
    async retract(...blocks: Block[]): Promise<void> {
      await setBlocks(db, "block_retracted", blocks);
      await project(db, targets);
    },
    async readopt(...blocks: Block[]): Promise<void> {
      await setBlocks(db, "block_readopted", blocks);
      await project(db, targets);
    },
    /** Status of an order, and of an inactive one the reason. */
    async state(table: string, { orderHash }: GivenOrder): Promise<string | undefined> {
      const { rows } = await sql<{ state: string }>`
        select concat_ws(' ', status, reason) as state from ${sql.table(table)}
        where order_hash = decode(${orderHash.slice(2)}, 'hex')`.execute(db);
      return rows[0]?.state;
    },
  };
}

import { sql } from "kysely";
import { afterAll, beforeEach, expect, it } from "vitest";
import type { Target } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import { inSwapTransaction } from "#projections/engine/shadow-schema.ts";
import { tick } from "#projections/engine/tick.ts";
import {
  addressOf,
  appendEvents,
  block,
  type ChainEvent,
  createProjection,
  dropTargets,
  untilSomeoneWaits,
} from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const database = await createDatabase();
const { db } = database;
afterAll(() => database.drop());

const idle = (name: string): Projection => ({
  name,
  version: 1,
  tables: () => [],
  apply: async () => {},
});
let targets: Target[] = [];

beforeEach(async () => {
  await dropTargets(db);
  targets = [await createProjection(db, idle("first")), await createProjection(db, idle("second"))];
});

/** Lets the work lock one checkpoint and wait for the other, which is held by somebody who then waits for the one. */
async function crossed<Result>(work: () => Promise<Result>): Promise<Result> {
  const { done } = await db.transaction().execute(async (other) => {
    await sql`set local deadlock_timeout = '1min'`.execute(other);
    const lock = (name: string) =>
      sql`select from engine.checkpoint where projection = ${name} for update`.execute(other);
    await lock("second");
    const done = work();
    await untilSomeoneWaits(db);
    await lock("first");
    return { done };
  });
  return await done;
}

it("an exchange of schemas that a deadlock ends is tried again", async () => {
  expect(await crossed(() => inSwapTransaction(db, async () => "exchanged"))).toBe("exchanged");
});

it("a tick that a deadlock ends has moved nothing, and the next one moves", async () => {
  const transfer: ChainEvent = {
    kind: "erc721_transfer",
    ...{ block: block(1, 1), logIndex: 0, contract: addressOf(9) },
    ...{ tokenId: 1n, from: addressOf(1), to: addressOf(2) },
  };
  await appendEvents(db, [transfer]);

  expect((await crossed(() => tick(db, targets))).outcome).toBe("fenced");

  expect((await tick(db, targets)).outcome).toBe("moved");
});

import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";

const blocksPerSecond = 4;

export type Appending = {
  eventsPerSecond: number;
  seconds: number;
  /** Id of the first token; each event has the next one. */
  from: number;
  onCommit?: (tokens: readonly number[], committingAt: number) => void;
  eachSecond?: (second: number) => void | Promise<void>;
};

/** Appends four blocks per second and marks them as projected. Returns the delay of the last block in milliseconds. */
export async function appendContinuously(db: Database, options: Appending): Promise<number> {
  const { eventsPerSecond, seconds, from, onCommit, eachSecond } = options;
  const inBlock = eventsPerSecond / blocksPerSecond;
  const startedAt = performance.now();
  let late = 0;
  for (let number = 0; number < seconds * blocksPerSecond; number += 1) {
    const dueAt = startedAt + (number * 1_000) / blocksPerSecond;
    await delay(Math.max(0, dueAt - performance.now()));
    late = Math.round(performance.now() - dueAt);
    const tokens = Array.from({ length: inBlock }, (_, index) => from + number * inBlock + index);
    await appendEvents(db, tokens.map(transferOf(1 + Math.floor(from / inBlock) + number)));
    onCommit?.(tokens, performance.now());
    await markProjected(db);
    if (number % blocksPerSecond === 0) await eachSecond?.(number / blocksPerSecond);
  }
  return late;
}

const transferOf = (height: number) => (token: number, logIndex: number) =>
  ({
    kind: "erc721_transfer",
    block: block(33139, height),
    logIndex,
    contract: addressOf(logIndex % 20),
    tokenId: BigInt(token),
    from: addressOf(100 + (logIndex % 30)),
    to: addressOf(200 + (height % 30)),
  }) as const;

/** Appends one block of so many transfers and marks it as projected. */
export async function appendTransfers(
  db: Database,
  { height, count }: { height: number; count: number },
): Promise<void> {
  await appendEvents(
    db,
    Array.from({ length: count }, (_, index) => index).map(transferOf(height)),
  );
  await markProjected(db);
}

async function markProjected(db: Database): Promise<void> {
  await db.transaction().execute(async (session) => {
    await sql`update engine.checkpoint set position = (select position from log.head)`.execute(
      session,
    );
    await sql`select pg_notify('projected', '')`.execute(session);
  });
}

const toldBy = [...["ownership", "sales", "activity", "listings", "bids"], "metadata"];

/** Creates the checkpoints that the feed waits for. */
export async function createCheckpoints(db: Database): Promise<void> {
  await sql`
    insert into engine.checkpoint (projection, version, parameters, position)
    select name, 1, '', 0 from unnest(${toldBy.map(schemaOf)}::text[]) name`.execute(db);
}

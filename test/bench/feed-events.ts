import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";
import { addressOf, appendEvents, block } from "../support/database/given.ts";

const blocksASecond = 4;

export type Appending = {
  eventsASecond: number;
  seconds: number;
  /** Of the first token: each event is of the next one. */
  from: number;
  onCommit?: (tokens: readonly number[], committingAt: number) => void;
  eachSecond?: (second: number) => void | Promise<void>;
};

/** Four blocks a second, told as if they were projected. Returns by how many milliseconds the last was late. */
export async function keepAppending(db: Database, options: Appending): Promise<number> {
  const { eventsASecond, seconds, from, onCommit, eachSecond } = options;
  const inBlock = eventsASecond / blocksASecond;
  const begunAt = performance.now();
  let late = 0;
  for (let number = 0; number < seconds * blocksASecond; number += 1) {
    const dueAt = begunAt + (number * 1_000) / blocksASecond;
    await delay(Math.max(0, dueAt - performance.now()));
    late = Math.round(performance.now() - dueAt);
    const tokens = Array.from({ length: inBlock }, (_, index) => from + number * inBlock + index);
    await appendEvents(db, tokens.map(transferOf(1 + Math.floor(from / inBlock) + number)));
    onCommit?.(tokens, performance.now());
    await tellProjected(db);
    if (number % blocksASecond === 0) await eachSecond?.(number / blocksASecond);
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

async function tellProjected(db: Database): Promise<void> {
  await db.transaction().execute(async (session) => {
    await sql`update engine.checkpoint set position = (select position from log.head)`.execute(
      session,
    );
    await sql`select pg_notify('projected', '')`.execute(session);
  });
}

/** What the feed waits for before it tells. */
export async function makeCheckpoints(db: Database): Promise<void> {
  await sql`
    insert into engine.checkpoint (projection, version, parameters, position)
    select name, 1, '', 0 from unnest(array['ownership', 'sales', 'activity', 'listings', 'bids']) name`.execute(
    db,
  );
}

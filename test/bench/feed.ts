import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { Database } from "../../projections/database.ts";
import { addressOf, appendEvents, block } from "../given.ts";
import { gatherReaders } from "./feed-crowd.ts";
import type { ProcessFigures } from "./feed-process.ts";
import { type Figure, medianFigure, percentileFigures } from "./figure.ts";
import { withDatabase } from "./server.ts";

const readers = 2_000;
const everyCloselyth = 20;
const eventsASecond = 200;
const blocksASecond = 4;
const seconds = 30;
const bytesOfMegabyte = 2 ** 20;
const giveUpMs = 60_000;

/**
 * 2,000 streams of one process while 200 transfers a second are appended, in blocks; nothing is projected, checkpoints
 * are moved. From just before the checkpoints' commit until the event is read.
 */
export function run(): Promise<Figure[]> {
  return withDatabase(async (db, url) => {
    await makeCheckpoints(db);
    const path = fileURLToPath(new URL("feed-process.ts", import.meta.url));
    const server = fork(path, [url], { execArgv: ["--import", "tsx"] });
    try {
      const [{ port }] = (await once(server, "message")) as [{ port: number }];
      return await measure(db, server, port);
    } finally {
      server.disconnect();
      await once(server, "exit");
    }
  });
}

async function measure(db: Database, server: ChildProcess, port: number): Promise<Figure[]> {
  const sentAt = new Map<string, number>();
  const before = await ask(server);
  const crowd = await gatherReaders(port, { readers, everyCloselyth }, (id) => sentAt.get(id));
  const begun = await ask(server);
  const memory: number[] = [];
  const late = await keepAppending(db, sentAt, async () => {
    memory.push((await ask(server)).rss / bytesOfMegabyte);
  });
  const events = eventsASecond * seconds;
  const [first = []] = crowd.heard;
  const deadline = performance.now() + giveUpMs;
  const areDone = () =>
    crowd.heard.every((ids) => ids.length >= events) && new Set(crowd.bytes).size === 1;
  while (!areDone() && performance.now() < deadline) await delay(50);
  const ended = await ask(server);
  const isSame = crowd.heard.every((ids) => ids.join() === first.join());
  const equal = crowd.bytes.filter((bytes) => bytes === crowd.bytes[0]).length;
  crowd.leave();
  const size =
    `${readers} readers, ${events} events in ${seconds} s (${late} ms late); ${equal} got the same bytes, ` +
    `${crowd.heard.length} were followed id by id and heard ${first.length}${isSame ? "" : ", not all the same"}; ` +
    `${ended.cut} cut, ${crowd.lost} lost; processor ${Math.round((ended.cpuMs - begun.cpuMs) / seconds / 10)} %; ` +
    `load ${loadavg()[0]?.toFixed(1)}`;
  const percentiles = [50, 99].map((percent) => ({ percent, goalMs: null }));
  return [
    ...percentileFigures("feed, delivery", crowd.delaysMs, percentiles, size),
    medianFigure("feed, memory with its readers", memory, { unit: "MB" }, size),
    medianFigure("feed, memory before", [before.rss / bytesOfMegabyte], { unit: "MB" }, size),
  ];
}

/** A block a quarter of a second. Returns how late the last one was. */
async function keepAppending(
  db: Database,
  sentAt: Map<string, number>,
  eachSecond: () => Promise<void>,
): Promise<number> {
  const begun = performance.now();
  const inBlock = eventsASecond / blocksASecond;
  const blocks = seconds * blocksASecond;
  for (let number = 0; number < blocks; number += 1) {
    const due = begun + (number * 1_000) / blocksASecond;
    await delay(Math.max(0, due - performance.now()));
    const tokens = Array.from({ length: inBlock }, (_, index) => number * inBlock + index);
    await appendEvents(
      db,
      tokens.map((token, index) => transfer(number, index, BigInt(token))),
    );
    const now = performance.now();
    for (const token of tokens) sentAt.set(String(token), now);
    await db.transaction().execute(async (session) => {
      await sql`
        update engine.checkpoint set position = (select position from log.head)`.execute(session);
      await sql`select pg_notify('projected', '')`.execute(session);
    });
    if (number % blocksASecond === 0) await eachSecond();
  }
  return Math.round(performance.now() - begun - (seconds - 1 / blocksASecond) * 1_000);
}

function transfer(number: number, logIndex: number, tokenId: bigint) {
  return {
    kind: "erc721_transfer",
    block: block(33139, number + 1),
    logIndex,
    contract: addressOf(logIndex % 20),
    tokenId,
    from: addressOf(100 + (logIndex % 30)),
    to: addressOf(200 + (number % 30)),
  } as const;
}

async function makeCheckpoints(db: Database): Promise<void> {
  await sql`
    insert into engine.checkpoint (projection, version, parameters, position)
    select name, 1, '', 0 from unnest(array['ownership', 'sales', 'activity', 'listings', 'bids']) name`.execute(
    db,
  );
}

async function ask(server: ChildProcess): Promise<ProcessFigures> {
  server.send("figures");
  const [figures] = await once(server, "message");
  return figures as ProcessFigures;
}

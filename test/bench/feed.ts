import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../projections/database.ts";
import { type FeedReader, gatherReaders } from "./feed-subscribers.ts";
import { keepAppending, makeCheckpoints } from "./feed-events.ts";
import { type FeedServer, startFeedServer } from "./feed-server.ts";
import { type Figure, medianFigure, percentileFigures } from "./figure.ts";
import { withDatabase } from "./server.ts";

const readers = 2_000;
const everyCloselyth = 20;
const rate = { eventsASecond: 200, seconds: 30 };
const events = rate.eventsASecond * rate.seconds;
const bytesOfMegabyte = 2 ** 20;
const giveUpMs = 60_000;
const longestAwayMs = 2_000;

/**
 * 2,000 streams of one process while 200 transfers a second are appended; nothing is projected, checkpoints are moved.
 * First undisturbed: from just before the checkpoints' commit until the event is read. Then as long again, while every
 * reader breaks off once and the process is killed and started anew.
 */
export function run(): Promise<Figure[]> {
  return withDatabase(async (db, url) => {
    await makeCheckpoints(db);
    const server = await startFeedServer(url);
    try {
      const { figures, crowd, notes } = await undisturbed(db, server);
      figures.push(await disturbed(db, server, crowd, notes));
      for (const reader of crowd) reader.leave();
      return figures;
    } finally {
      await server.stop();
    }
  });
}

/** What a reader wrote down that listens closely: the tokens of its events. */
type Notes = string[];

async function undisturbed(db: Database, server: FeedServer) {
  const sentAt = new Map<string, number>();
  const delaysMs: number[] = [];
  const memory: number[] = [];
  const notes: Notes[] = [];
  const listenClosely = () => {
    const own: Notes = [];
    notes.push(own);
    return (bytes: Buffer) => {
      const now = performance.now();
      for (const [, token = ""] of bytes.toString("latin1").matchAll(/"token_id":"(\d+)"/g)) {
        own.push(token);
        const at = sentAt.get(token);
        if (at !== undefined) delaysMs.push(now - at);
      }
    };
  };
  const empty = await server.ask();
  const crowd = await gatherReaders(readers, (index) => ({
    port: server.port,
    awayMs: (index * longestAwayMs) / readers,
    ...(index % everyCloselyth === 0 && { onEvents: listenClosely() }),
  }));
  const before = await server.ask();
  const late = await keepAppending(db, {
    ...rate,
    from: 0,
    onCommit: (tokens, at) => tokens.forEach((token) => void sentAt.set(String(token), at)),
    eachSecond: async () => void memory.push((await server.ask()).rss / bytesOfMegabyte),
  });
  await untilHeard(crowd, notes, events);
  const after = await server.ask();
  sentAt.clear();
  const size =
    `${readers} readers, ${events} events in ${rate.seconds} s (${late} ms late); ${after.cut} cut; ` +
    `processor ${Math.round((after.cpuMs - before.cpuMs) / rate.seconds / 10)} %; load ${loadavg()[0]?.toFixed(1)}`;
  const percentiles = [50, 99].map((percent) => ({ percent, goalMs: null }));
  const figures = [
    ...percentileFigures("feed, delivery", delaysMs, percentiles, size),
    medianFigure("feed, memory with its readers", memory, { unit: "MB" }, size),
    medianFigure("feed, memory before", [empty.rss / bytesOfMegabyte], { unit: "MB" }, size),
  ];
  return { figures, crowd, notes };
}

/** How many readers had every event of both halves once and in order. */
async function disturbed(
  db: Database,
  server: FeedServer,
  crowd: readonly FeedReader[],
  notes: readonly Notes[],
): Promise<Figure> {
  const breakingOff = Math.ceil(readers / rate.seconds);
  let restart = Promise.resolve();
  await keepAppending(db, {
    ...rate,
    from: events,
    eachSecond: async (second) => {
      for (const reader of crowd.slice(second * breakingOff, (second + 1) * breakingOff)) {
        reader.breakOff();
      }
      if (second === rate.seconds / 2) restart = server.startAnew();
    },
  });
  await restart;
  await untilHeard(crowd, notes, 2 * events);
  const { rss } = await server.ask();
  const all = Array.from({ length: 2 * events }, (_, token) => String(token)).join();
  const [first] = crowd;
  const isRight = notes.every((own) => own.join() === all);
  const whole = crowd.filter((reader) => isRight && reader.digest() === first?.digest()).length;
  const connections = crowd.reduce((sum, reader) => sum + reader.connections, 0);
  return medianFigure(
    "feed, every event once and in order",
    [whole],
    { unit: "readers", atLeast: readers },
    `${2 * events} events, ${connections} connections, one SIGKILL of the server; ${notes.length} followed event by ` +
      `event, the others by a digest; memory at the end ${Math.round(rss / bytesOfMegabyte)} MB`,
  );
}

/** Settles when all have heard so many events, or after a minute. */
async function untilHeard(
  crowd: readonly FeedReader[],
  notes: readonly Notes[],
  count: number,
): Promise<void> {
  const deadline = performance.now() + giveUpMs;
  const isDone = () =>
    notes.every((own) => own.length >= count) &&
    new Set(crowd.map(({ place }) => place)).size === 1;
  while (!isDone() && performance.now() < deadline) await delay(100);
}

import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "#projections/log/database.ts";
import { type Figure, medianFigure, percentileFigures } from "../figure.ts";
import { withDatabase } from "../server.ts";
import { appendContinuously, createCheckpoints } from "./events.ts";
import { type FeedServer, startFeedServer } from "./server.ts";
import { type FeedReader, gatherReaders } from "./subscribers.ts";

const readers = 2_000;
const recordingInterval = 20;
const rate = { eventsPerSecond: 200, seconds: 30 };
const events = rate.eventsPerSecond * rate.seconds;
const bytesPerMegabyte = 2 ** 20;
const giveUpMs = 60_000;
const longestReconnectMs = 2_000;

/**
 * 2,000 subscribers of one process while 200 transfers per second are appended; only checkpoints are advanced.
 * First undisturbed: the time from just before the checkpoints' commit until the event is read. Then for the same time
 * while every subscriber reconnects once and the process is killed and restarted.
 */
export function run(): Promise<Figure[]> {
  return withDatabase(async (db, url) => {
    await createCheckpoints(db);
    const server = await startFeedServer(url);
    try {
      const { figures, subscribers, recorded } = await undisturbed(db, server);
      figures.push(await disturbed(db, server, subscribers, recorded));
      for (const reader of subscribers) reader.close();
      return figures;
    } finally {
      await server.stop();
    }
  });
}

/** The tokens of all events of a subscriber that records them. */
type RecordedTokens = string[];

async function undisturbed(db: Database, server: FeedServer) {
  const sentAt = new Map<string, number>();
  const delaysMs: number[] = [];
  const memory: number[] = [];
  const recorded: RecordedTokens[] = [];
  const recordTokens = () => {
    const own: RecordedTokens = [];
    recorded.push(own);
    return (bytes: Buffer) => {
      const now = performance.now();
      for (const [, token = ""] of bytes.toString("latin1").matchAll(/"token_id":"(\d+)"/g)) {
        own.push(token);
        const at = sentAt.get(token);
        if (at !== undefined) delaysMs.push(now - at);
      }
    };
  };
  const empty = await server.readFigures();
  const subscribers = await gatherReaders(readers, (index) => ({
    port: server.port,
    reconnectMs: (index * longestReconnectMs) / readers,
    ...(index % recordingInterval === 0 && { onEvents: recordTokens() }),
  }));
  const before = await server.readFigures();
  const late = await appendContinuously(db, {
    ...rate,
    from: 0,
    onCommit: (tokens, at) => tokens.forEach((token) => void sentAt.set(String(token), at)),
    eachSecond: async () => void memory.push((await server.readFigures()).rss / bytesPerMegabyte),
  });
  await untilReceived(subscribers, recorded, events);
  const after = await server.readFigures();
  sentAt.clear();
  const size =
    `${readers} readers, ${events} events in ${rate.seconds} s (${late} ms late); ${after.cut} cut; ` +
    `processor ${Math.round((after.cpuMs - before.cpuMs) / rate.seconds / 10)} %; load ${loadavg()[0]?.toFixed(1)}`;
  const percentiles = [50, 99].map((percent) => ({ percent, goalMs: null }));
  const figures = [
    ...percentileFigures("feed, delivery", delaysMs, percentiles, size),
    medianFigure("feed, memory with its readers", memory, { unit: "MB" }, size),
    medianFigure("feed, memory before", [empty.rss / bytesPerMegabyte], { unit: "MB" }, size),
  ];
  return { figures, subscribers, recorded };
}

/** How many subscribers received every event of both halves once and in order. */
async function disturbed(
  db: Database,
  server: FeedServer,
  subscribers: readonly FeedReader[],
  recorded: readonly RecordedTokens[],
): Promise<Figure> {
  const reconnectsPerSecond = Math.ceil(readers / rate.seconds);
  let restart = Promise.resolve();
  await appendContinuously(db, {
    ...rate,
    from: events,
    eachSecond: async (second) => {
      for (const reader of subscribers.slice(
        second * reconnectsPerSecond,
        (second + 1) * reconnectsPerSecond,
      )) {
        reader.disconnect();
      }
      if (second === rate.seconds / 2) restart = server.restart();
    },
  });
  await restart;
  await untilReceived(subscribers, recorded, 2 * events);
  const { rss } = await server.readFigures();
  const all = Array.from({ length: 2 * events }, (_, token) => String(token)).join();
  const [first] = subscribers;
  const isRight = recorded.every((own) => own.join() === all);
  const complete = subscribers.filter(
    (reader) => isRight && reader.digest() === first?.digest(),
  ).length;
  const connections = subscribers.reduce((sum, reader) => sum + reader.connections, 0);
  return medianFigure(
    "feed, every event once and in order",
    [complete],
    { unit: "readers", atLeast: readers },
    `${2 * events} events, ${connections} connections, one SIGKILL of the server; ${recorded.length} followed event by ` +
      `event, the others by a digest; memory at the end ${Math.round(rss / bytesPerMegabyte)} MB`,
  );
}

/** Resolves when all subscribers have received `count` events, or after a minute. */
async function untilReceived(
  subscribers: readonly FeedReader[],
  recorded: readonly RecordedTokens[],
  count: number,
): Promise<void> {
  const deadline = performance.now() + giveUpMs;
  const isDone = () =>
    recorded.every((own) => own.length >= count) &&
    new Set(subscribers.map(({ lastEventId }) => lastEventId)).size === 1;
  while (!isDone() && performance.now() < deadline) await delay(100);
}

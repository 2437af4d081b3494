import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLogHead } from "#projections/log/blocks.ts";
import { type FeedOptions, type Market, type MarketEvent, market } from "#sdk/src/index.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { appendEvents, type Block, setBlocks } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  catchUp,
  type FeedServer,
  makeCheckpoints,
  serveFeed,
  transfers,
} from "../feed/feed-stage.ts";

let database: TestDatabase;
let server: FeedServer;
const stillOpen = new AbortController();

beforeAll(async () => {
  database = await createDatabase();
  await makeCheckpoints(database.db);
  server = await serveFeed(database.db, { pollMs: 20, bufferBytes: 32 * 1024 });
});
afterAll(async () => {
  stillOpen.abort();
  await server?.close();
  await database?.drop();
});

const mined: Block[] = [];

/** A block comes; one of the newest goes, or comes back. */
async function happen({ int, pick }: Random, reorgs: boolean): Promise<void> {
  const { db } = database;
  const events = transfers(int(1, 8));
  mined.push(...events.slice(0, 1).map(({ block }) => block));
  await appendEvents(db, events);
  const newest = mined.slice(-4);
  if (reorgs) await setBlocks(db, "block_retracted", [pick(newest)]);
  else await setBlocks(db, "block_readopted", [pick(newest)]);
  await catchUp(db);
}

/** A connection that breaks after every few parts of an answer, `cuts` times. */
function cutting(random: Random, cuts: number) {
  const state = { cut: 0, requests: 0 };
  const fetchCut: typeof fetch = async (...request) => {
    state.requests += 1;
    const response = await fetch(...request);
    if (state.cut >= cuts || response.body === null) return response;
    let left = random.int(0, 3);
    const breaking = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= 1;
        if (left >= 0 || state.cut >= cuts) {
          controller.enqueue(chunk);
          return;
        }
        state.cut += 1;
        controller.enqueue(chunk.slice(0, Math.floor(chunk.length / 2)));
        controller.error(new Error("cut"));
      },
    });
    return new Response(response.body.pipeThrough(breaking), response);
  };
  return { state, fetch: fetchCut };
}

const open = (more: Partial<Parameters<typeof market>[0]> = {}): Market =>
  market({ url: server.url, chainId: 33139, key: "a key", retry: { delayMs: 1 }, ...more });

/** A consumer's own table: the events it received, without what was retracted. */
class Table {
  readonly rows = new Map<string, MarketEvent>();
  readonly ids: string[] = [];
  retractions = 0;

  apply(event: MarketEvent): void {
    this.ids.push(event.id);
    if (event.retracts === null) this.rows.set(event.id, event);
    else {
      this.retractions += 1;
      if (!this.rows.delete(event.retracts.id)) throw new Error(`${event.retracts.id} is unknown`);
    }
  }
}

/** Follows until an event of the last block came; goes on with another feed now and then, as after a restart. */
async function follow(api: Market, options: FeedOptions, isLast: (event: MarketEvent) => boolean) {
  const table = new Table();
  let after = "0-0";
  while (true) {
    const feed = api.feed({ ...options, after, signal: stillOpen.signal, pollMs: 20, retryMs: 1 });
    let steps = 0;
    for await (const event of feed) {
      table.apply(event);
      after = event.id;
      if (isLast(event)) return table;
      steps += 1;
      if (steps === 25) break;
    }
    if (stillOpen.signal.aborted) throw new Error(`ended after ${table.ids.length} events`);
  }
}

const withoutTime = ({ isFinal: _, isHistory: __, ...event }: MarketEvent) => event;
const contentOf = (table: Table) =>
  [...table.rows.values()].map(withoutTime).toSorted((a, b) => (a.id < b.id ? -1 : 1));

describe("two consumers of the feed, one by a stream and one by pages,", () => {
  it("have equal tables after ten reorgs and twenty cut connections each", async () => {
    const random = randomFrom(7);
    const lastBlock = { hash: "" };
    const isLast = (event: MarketEvent) => event.blockHash === lastBlock.hash;
    const [streamed, polled] = (["stream", "poll"] as const).map((transport) => {
      const { fetch, state } = cutting(random, 20);
      return { state, table: follow(open({ fetch }), { transport }, isLast) };
    });
    if (streamed === undefined || polled === undefined) throw new Error("two consumers");
    for (let step = 0; step < 20; step += 1) {
      await happen(random, step % 2 === 0);
      server.feed.notify();
    }
    // Reads while connections are still cut go on until each was cut twenty times.
    while (streamed.state.cut < 20 || polled.state.cut < 20) await happen(random, false);
    const last = transfers(1);
    lastBlock.hash = last[0]?.block.hash ?? "";
    await appendEvents(database.db, last);
    await catchUp(database.db);

    const [one, other] = await Promise.all([streamed.table, polled.table]);
    expect(one.retractions).toBeGreaterThanOrEqual(10);
    expect(new Set(one.ids).size).toBe(one.ids.length);
    expect(other.ids).toEqual(one.ids);
    expect(contentOf(other)).toEqual(contentOf(one));
    expect([streamed.state.cut, polled.state.cut]).toEqual([20, 20]);
  });
});

describe("delivery=final", () => {
  it("tells by stream and by pages only what stands, once it is final", async () => {
    const { db } = database;
    const whole = new Table();
    for await (const event of untilNow({})) whole.apply(event);
    const heights = [...whole.rows.values()].map(({ blockNumber }) => blockNumber ?? 0);
    const middle = heights.toSorted((a, b) => a - b)[Math.floor(heights.length / 2)] ?? 0;

    expect((await collect({ delivery: "final" })).ids).toEqual([]);
    await settle(middle);
    const half = await collect({ delivery: "final" });
    expect(half.retractions).toBe(0);
    expect(half.ids.length).toBeGreaterThan(0);
    expect(
      [...half.rows.values()].every(
        ({ blockNumber, isFinal, isHistory }) =>
          isFinal && isHistory && Number(blockNumber) <= middle,
      ),
    ).toBe(true);

    await settle(Math.max(...heights));
    const all = await collect({ delivery: "final" });
    expect(all.retractions).toBe(0);
    expect(contentOf(all)).toEqual(contentOf(whole));
    expect(all.ids.slice(0, half.ids.length)).toEqual(half.ids);

    const streamed = await follow(
      open(),
      { delivery: "final", transport: "stream" },
      ({ id }) => id === all.ids.at(-1),
    );
    expect(streamed.ids).toEqual(all.ids);
    expect(await readLogHead(db)).toBeGreaterThan(0n);
  });
});

/** Everything until now, by pages. */
async function* untilNow(options: FeedOptions): AsyncGenerator<MarketEvent> {
  let after = "0-0";
  while (true) {
    const { delivery = "latest" } = options;
    const { data, meta } = await open().get("/v1/events", { after, delivery, per_page: 100 });
    yield* data;
    if (!meta.has_more) return;
    after = meta.next;
  }
}

async function collect(options: FeedOptions): Promise<Table> {
  const table = new Table();
  for await (const event of untilNow(options)) table.apply(event);
  return table;
}

/** The recorder has recorded a chain to the end of that block, which is final. */
async function settle(number: number): Promise<void> {
  const id = `${"0".repeat(26)}${String(number).padStart(16, "0")}${"9".repeat(33)}`;
  await sql`
    insert into ops.recorder (chain_id, ponder_schema, settled_id) values (33139, 'test', ${id})
    on conflict (chain_id, ponder_schema) do update set settled_id = excluded.settled_id`.execute(
    database.db,
  );
}

describe("a stream of /v1/events", () => {
  it("is for callers with a key, and `auto` polls without one", async () => {
    const types = async (headers: Record<string, string>) => {
      const leaving = new AbortController();
      const response = await fetch(`${server.url}/v1/events?chainId=33139`, {
        headers,
        signal: leaving.signal,
      });
      leaving.abort();
      return [response.headers.get("content-type")?.split(";")[0], response.headers.get("vary")];
    };
    const accept = "text/event-stream";
    expect(await types({ accept, "x-api-key": "a key" })).toEqual([
      accept,
      expect.stringContaining("Accept"),
    ]);
    expect((await types({ accept }))[0]).toBe("application/json");
    expect((await types({ "x-api-key": "a key" }))[0]).toBe("application/json");

    const { key: _, ...keyless } = { url: server.url, chainId: 33139 as const, key: "" };
    const [event] = await take(market(keyless).feed({ after: "0-0", signal: stillOpen.signal }), 1);
    expect(event?.id).toBe("1-1");
  });

  it("begins with what happens from now, and refuses a position that there is not", async () => {
    const feed = open().feed({ signal: stillOpen.signal });
    const taken = take(feed, 1);
    const begun = await until(() => feed.position !== undefined);
    expect(begun).toBe(true);
    const events = transfers(1);
    await appendEvents(database.db, events);
    await catchUp(database.db);
    expect((await taken)[0]?.blockHash).toBe(events[0]?.block.hash);

    const refused = take(open().feed({ after: "999999999999-0" }), 1);
    await expect(refused).rejects.toMatchObject({ status: 422, code: "invalid_cursor" });
  });
});

async function take(feed: AsyncIterable<MarketEvent>, count: number): Promise<MarketEvent[]> {
  const events: MarketEvent[] = [];
  for await (const event of feed) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

async function until(isSo: () => boolean): Promise<boolean> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
  return true;
}

import { Kysely, type PostgresPool } from "kysely";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { openPositionedReads } from "#api/http/reads/positioned-reads.ts";
import { openResponseCache } from "#api/http/reads/response-cache.ts";
import { openTarget } from "#api/http/reads/target.ts";
import { allProjections, projectionNames } from "#projections/all.ts";
import { inSnapshot } from "#projections/engine/snapshot.ts";
import { appendObservations } from "#projections/log/append.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import {
  type Database,
  driverTypes,
  preparing,
  VersionedDialect,
} from "#projections/log/database.ts";
import { randomFrom } from "#test/simulation/random.ts";
import { appendEvents } from "#test/support/database/given.ts";
import { until } from "#test/support/database/pipeline.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { collectionsRegistered, openTokenMarket } from "#test/support/market-data/token-market.ts";
import { feeRecipient, receivedAt } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const paths = [
  "/v1/sales?per_page=5",
  "/v1/listings?collection=kin&per_page=5",
  "/v1/collections/kin",
  "/v1/collections/kin/tokens?sort=price_asc&per_page=5",
  "/v1/collections/kin/traits",
  "/v1/events?after=0-0&per_page=20",
  "/v1/activity?per_page=20",
];

/** One history, told to a log step by step. */
async function openReplica(seed: number) {
  const book = await openProjectedLog(allProjections({ feeRecipient }));
  await book.emptyTargets();
  const market = openTokenMarket(randomFrom(seed));
  const { events, observations } = market.opening();
  await appendEvents(book.db, events);
  await appendObservations(book.db, observations);
  await book.happens(...collectionsRegistered());
  return {
    book,
    async step(): Promise<void> {
      const next = market.next();
      if ("facts" in next) await book.happens(...next.facts);
      else if ("drop" in next) await book.retract(next.drop);
      else await book.readopt(next.restore);
    },
  };
}
type Replica = Awaited<ReturnType<typeof openReplica>>;

/** An address with several servers behind it: each connection is to one of them, which nobody can tell. */
function openShared(urls: readonly string[]): Database {
  const pools = urls.map((connectionString) =>
    preparing(new pg.Pool({ connectionString, types: driverTypes, max: 4 }), 100),
  );
  const random = randomFrom(7);
  const pool: PostgresPool = {
    connect: () => random.pick(pools).connect(),
    end: async () => {
      await Promise.all(pools.map((one) => one.end()));
    },
  };
  return new Kysely({ dialect: new VersionedDialect({ pool }) });
}

let ahead: Replica;
let behind: Replica;
let shared: Database;
let api: ApiClient;
/** Of one server each. */
let alone: [ApiClient, ApiClient];
const now = () => new Date(Number(receivedAt + 50_000n) * 1_000);

beforeAll(async () => {
  [ahead, behind] = await Promise.all([openReplica(1), openReplica(1)]);
  shared = openShared([ahead.book.url, behind.book.url]);
  const serveOver = (db: Database) =>
    serve(
      createApp({
        context: {
          db,
          siteUrl: "https://site.example.test",
          chains: [1, 33139] as const,
          readStatus: () => Promise.reject(new Error("nobody asks for the status here")),
          market: openTestMarket(db),
          now,
        },
        reads: openPositionedReads({
          primary: openTarget({ db }, projectionNames),
          projections: projectionNames,
        }),
        responseCache: openResponseCache({ now }),
        baseUrl: "https://api.example.test",
        logger: pino({ level: "silent" }),
      }),
    );
  api = await serveOver(shared);
  alone = await Promise.all([serveOver(ahead.book.db), serveOver(behind.book.db)]);
});
afterAll(async () => {
  await Promise.all([api, ...(alone ?? [])].map((one) => one?.close()));
  await shared?.destroy();
  await Promise.all([ahead?.book.drop(), behind?.book.drop()]);
});

const positionOf = ({ headers }: { headers: Headers }) => BigInt(headers.get("x-position") ?? -1);
const at = (position: bigint) => ({ "X-Min-Position": `${position}` });

describe("several servers behind one address", () => {
  const exact = paths.filter((path) => !path.endsWith("/traits"));
  /** Answers by position and path. */
  const known = new Map<string, unknown>();
  const seen = { late: 0, early: 0 };

  async function learn(): Promise<void> {
    for (const path of exact) {
      for (const answer of await Promise.all(alone.map((one) => one.get(path))))
        known.set(`${positionOf(answer)} ${path}`, answer.body);
    }
  }

  async function compare(path: string, newest: bigint): Promise<void> {
    const answer = await api.get(path);
    seen[positionOf(answer) === newest ? "late" : "early"] += 1;
    expect(answer.body, path).toEqual(known.get(`${positionOf(answer)} ${path}`));
  }

  async function compareNewest(path: string, newest: bigint): Promise<void> {
    const answer = await retried(() => api.get(path, at(newest)));
    expect(positionOf(answer), path).toBe(newest);
  }

  it("answer alike at the same position, and never from before the position that is asked for", async () => {
    for (let step = 0; step < 6; step += 1) {
      await ahead.step();
      if (step > 1) await behind.step();
      await learn();
      const newest = await readLogHead(ahead.book.db);
      await Promise.all([
        ...[...exact, ...exact].map((path) => compare(path, newest)),
        ...paths.map((path) => compareNewest(path, newest)),
      ]);
    }
    expect(seen.late).toBeGreaterThan(0);
    expect(seen.early).toBeGreaterThan(0);
  });

  it("keep an answer for its own address alone, whatever question marks it holds", async () => {
    const [one] = alone;
    const foreign = await one.get("/v1/collections?min_position?&search=nothing-is-called-so");
    expect([foreign.status, foreign.body]).toMatchObject([422, { code: "unknown_parameter" }]);
    const { body } = await one.get("/v1/collections");
    expect((body as { data: unknown[] }).data.length).toBeGreaterThan(0);
  });
});

it("a read of a snapshot cannot begin a transaction, whose end would end the snapshot", async () => {
  const { db } = ahead.book;
  const nested = inSnapshot(db, { projections: projectionNames }, (snapshot) =>
    snapshot.db.transaction().execute((session) => readLogHead(session)),
  );
  await expect(nested).rejects.toThrow("cannot begin a transaction");
  expect(await db.transaction().execute((session) => readLogHead(session))).toBeGreaterThan(0n);
});

describe("a position that a request names", () => {
  const path = "/v1/listings?collection=kin&per_page=5";

  it("is that of an earlier answer: header or parameter, the higher one; no digits are refused", async () => {
    const [one] = alone;
    const answer = await one.get(path);
    const position = positionOf(answer);
    expect(position).toBe(await readLogHead(ahead.book.db));
    expect(answer.headers.get("vary")).toContain("X-Min-Position");
    for (const asked of [`${path}&min_position=${position}`, `${path}&min_position=0`])
      expect((await one.get(asked, at(position))).body).toEqual(answer.body);
    for (const wrong of ["-1", "x", "1e3", "9".repeat(19)]) {
      const refused = await one.get(`${path}&min_position=${wrong}`);
      expect(refused).toMatchObject({ status: 422, body: { code: "invalid_position" } });
    }
  });

  it("is on every answer: not found, not modified, of the other API and of a POST", async () => {
    const [one] = alone;
    const etag = (await one.get(path)).headers.get("etag") ?? "";
    const answers = [
      await one.get(path, { "If-None-Match": etag }),
      await one.get("/v1/collections/nobody-has-it"),
      await one.post("/v1/listings/mkt-0x00/buy-data", { chainId: 33139 }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([304, 404, 404]);
    const newest = await readLogHead(ahead.book.db);
    for (const answer of answers) expect(positionOf(answer)).toBe(newest);
  });

  it("is waited for; when it is not reached in time the answer is 503 and says when to try again", async () => {
    const [one] = alone;
    await one.get(path);
    const before = await readLogHead(ahead.book.db);
    const early = await one.get(path, at(before + 1n));
    expect(early).toMatchObject({ status: 503, body: { code: "position_not_reached" } });
    expect(early.headers.get("retry-after")).toBe("1");
    const post = await one.post(
      "/v1/listings/mkt-0x00/buy-data",
      { chainId: 33139 },
      at(before + 1n),
    );
    expect(post).toMatchObject({ status: 503, body: { code: "position_not_reached" } });
    const [answer] = await Promise.all([
      retried(() => one.get(path, at(before + 1n))),
      growPast(before),
    ]);
    expect(positionOf(answer)).toBeGreaterThan(before);
  });

  it("is that of what is kept for a minute, which is read again for a later one", async () => {
    const [one] = alone;
    const traits = "/v1/collections/kin/traits";
    const kept = await one.get(traits);
    await growPast(await readLogHead(ahead.book.db));
    const newest = await readLogHead(ahead.book.db);
    const again = await one.get(traits);
    expect(positionOf(again)).toBe(positionOf(kept));
    const fresh = await one.get(traits, at(newest));
    expect(positionOf(fresh)).toBe(newest);
  });
});

/** A client tries again after 503; how long the other server's step takes is up to the machine. */
function retried<Answer extends { status: number }>(ask: () => Promise<Answer>): Promise<Answer> {
  return until("an answer from the position", async () => {
    const answer = await ask();
    return answer.status !== 503 && answer;
  });
}

/** Steps until the log has grown: a step may retract what it just appended. */
async function growPast(position: bigint): Promise<void> {
  while ((await readLogHead(ahead.book.db)) <= position) await ahead.step();
}

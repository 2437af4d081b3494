import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { openResponseCache, type ResponseCache } from "#api/http/reads/response-cache.ts";
import { allProjections, projectionNames } from "#projections/all.ts";
import { inSwapTransaction } from "#projections/engine/shadow-schema.ts";
import { readDataVersion } from "#projections/engine/snapshot.ts";
import { appendObservations } from "#projections/log/append.ts";
import { rankCollection } from "#projections/traits/rank-collection.ts";
import { readOutdatedRankings } from "#projections/traits/read-outdated-rankings.ts";
import { type Random, randomFrom } from "#test/simulation/random.ts";
import { appendEvents } from "#test/support/database/given.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import {
  collectionsRegistered,
  nfts,
  openTokenMarket,
} from "#test/support/market-data/token-market.ts";
import { feeRecipient, receivedAt } from "#test/support/orders/order-facts.ts";
import { openProjectedLog } from "#test/support/orders/projected-log.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

const STEPS = 24;

let book: Awaited<ReturnType<typeof openProjectedLog>>;
/** One API makes every answer anew, the other keeps them; both tell the same time. */
let plain: ApiClient;
let keeping: ApiClient;
let now = receivedAt;
let made = 0;

beforeAll(async () => {
  book = await openProjectedLog(allProjections({ feeRecipient }));
  const clock = () => new Date(Number(now) * 1000 + 250);
  const answers = openResponseCache({ now: clock });
  const counted: ResponseCache = {
    get: (source, make) =>
      answers.get(source, (at, snapshot) => {
        made += 1;
        return make(at, snapshot);
      }),
  };
  const options = {
    context: {
      db: book.db,
      siteUrl: "https://site.example.test",
      chains: [1, 33139] as const,
      readStatus: () => Promise.reject(new Error("nobody asks for the status here")),
      market: openTestMarket(book.db),
      now: clock,
    },
    baseUrl: "https://api.example.test",
    logger: pino({ level: "silent" }),
  };
  plain = await serve(createApp(options));
  keeping = await serve(createApp({ ...options, responseCache: counted }));
});
afterAll(async () => {
  await plain.close();
  await keeping.close();
  await book.drop();
});

const paths = [
  "/v1/sales",
  "/v1/sales?collection=kin&per_page=3",
  "/v1/listings",
  "/v1/listings?collection=kin&sort=price_desc&per_page=2",
  "/v1/listings?status=inactive",
  "/v1/bids?collection=punks",
  "/v1/bids/best?collection=punks&tokenId=3",
  "/v1/collections?sort=listed",
  "/v1/collections/kin",
  "/v1/collections/kin/tokens?sort=price_asc",
  "/v1/collections/kin/tokens?sort=rarity&per_page=4",
  `/v1/collections/punks/tokens/3`,
  `/v1/collections/${nfts.editions.address}/tokens?sort=recently_listed`,
];

async function rank(): Promise<void> {
  for (const { collectionId } of await readOutdatedRankings(book.db)) {
    await rankCollection(book.db, collectionId);
  }
}

/** A market from an empty log, and what may happen to it next. */
async function openHappenings(random: Random): Promise<() => Promise<void>> {
  await book.clear();
  await sql`truncate rarity.token, rarity.collection`.execute(book.db);
  const market = openTokenMarket(random);
  const { events, observations } = market.opening();
  await appendEvents(book.db, events);
  await appendObservations(book.db, observations);
  await book.happens(...collectionsRegistered());
  now = market.now();
  const goOn = async () => {
    const next = market.next();
    if ("facts" in next) await book.happens(...next.facts);
    else if ("drop" in next) await book.retract(next.drop);
    else await book.readopt(next.restore);
  };
  const letTimePass = async () => {
    now += BigInt(random.int(1, 40));
  };
  const recordAhead = async () => {
    const next = market.next();
    if ("facts" in next) await book.appendFacts(next.facts);
  };
  const nothing = async () => {};
  const happenings = [goOn, goOn, goOn, letTimePass, recordAhead, rank, nothing];
  return () => random.pick(happenings)();
}

/** Asks for what it has already: it gets a 304 exactly where the answer that nobody kept is the one it has. */
function openClient() {
  const etags = new Map<string, string>();
  const seen = { changed: 0, unchanged: 0 };
  return {
    seen,
    async compare(path: string): Promise<void> {
      const known = etags.get(path) ?? "none";
      const [expected, answer] = await Promise.all([
        plain.get(path),
        keeping.get(path, { "If-None-Match": known }),
      ]);
      const etag = expected.headers.get("etag") ?? "";
      const isUnchanged = etag === known;
      expect(answer.status, path).toBe(isUnchanged ? 304 : expected.status);
      expect(answer.headers.get("etag") ?? "").toBe(etag);
      expect(answer.headers.get("link")).toBe(expected.headers.get("link"));
      if (answer.status === 200) expect(answer.body).toEqual(expected.body);
      etags.set(path, etag);
      seen[isUnchanged ? "unchanged" : "changed"] += 1;
    },
  };
}

describe("answers that are kept", () => {
  it.each([1, 2])(
    "are those of an API that keeps none, whatever happened before: market %i",
    async (seed) => {
      const happen = await openHappenings(randomFrom(seed));
      const client = openClient();
      made = 0;
      for (let step = 0; step < STEPS; step += 1) {
        await happen();
        await Promise.all(paths.map(client.compare));
      }
      const { seen } = client;
      expect(seen.changed).toBeGreaterThan(STEPS);
      expect(seen.unchanged).toBeGreaterThan(STEPS);
      expect(made).toBeLessThan(STEPS * paths.length);
    },
  );

  it("are made once for all who ask at the same time, and not again while nothing changes", async () => {
    await openHappenings(randomFrom(3));
    await rank();
    made = 0;
    const [path = ""] = paths;
    const answers = await Promise.all(Array.from({ length: 20 }, () => keeping.get(path)));
    expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(1);
    expect((await keeping.get(path)).status).toBe(200);
    expect(made).toBe(1);
  });

  it("are the same packed and not, the first time and again", async () => {
    const path = "/v1/collections/kin/tokens";
    await openHappenings(randomFrom(5));
    await rank();
    const { body } = await plain.get(path);
    for (const encoding of ["identity", "gzip", "br", "br", "gzip", "identity"]) {
      const answer = await keeping.get(path, { "Accept-Encoding": encoding });
      expect(answer.headers.get("content-encoding") ?? "identity").toBe(encoding);
      expect(answer.headers.get("vary")).toContain("Accept-Encoding");
      expect(answer.body).toEqual(body);
    }
  });

  it("tell of a collection's new ranks as soon as they stand, though no fact came", async () => {
    const path = "/v1/collections/kin/tokens?sort=rarity";
    await openHappenings(randomFrom(4));
    const before = await keeping.get(path);
    await rank();
    const after = await keeping.get(path);
    expect(after.body).not.toEqual(before.body);
    expect(after.body).toEqual((await plain.get(path)).body);
  });

  it("do not stand for what a rebuild exchanges, though no position moves", async () => {
    const read = async () => (await readDataVersion(book.db, projectionNames)).version;
    const before = await read();
    expect(await read()).toBe(before);
    await inSwapTransaction(book.db, async () => {});
    expect(await read()).not.toBe(before);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeKey } from "#api/keys/key-text.ts";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { seedRows } from "#test/support/http/api-rows.ts";
import {
  anything,
  from,
  type LimitedApi,
  newAddress,
  openLimitedApi,
} from "#test/support/http/limited-api.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const sales = "/v1/sales?chainId=33139&per_page=1";

let database: TestDatabase;
let one: LimitedApi;
let other: LimitedApi;
let clock = start;
const now = () => clock;
const later = (ms: number) => new Date(start.getTime() + ms);

beforeAll(async () => {
  database = await createDatabase({ template: "projected" });
  await seedRows(database.db);
  const { url } = database;
  [one, other] = await Promise.all([openLimitedApi({ url, now }), openLimitedApi({ url, now })]);
});
beforeEach(() => {
  clock = start;
});
afterAll(async () => {
  await Promise.all([one?.close(), other?.close()]);
  await database?.drop();
});

type Answer = { status: number; headers: Headers };
const left = ({ headers }: Answer) => headers.get("x-ratelimit-remaining");

/** Asks one after the other, both processes by turns. */
async function ask(times: number, headers: Record<string, string>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let time = 0; time < times; time += 1) {
    answers.push(await (time % 2 === 0 ? one : other).get(anything, headers));
  }
  return answers;
}

const count = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

describe("a caller without a key", () => {
  it("has 30 requests, told with every answer of either process, and the 31st is refused", async () => {
    const caller = from(newAddress());

    const answers = await ask(30, caller);
    const refused = await one.get(anything, caller);

    expect(answers.map(left)).toEqual(Array.from({ length: 30 }, (_, used) => `${29 - used}`));
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-limit"))).toEqual(
      Array(30).fill("30"),
    );
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ success: false, code: "rate_limited" });
    expect(left(refused)).toBe("0");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.headers.get("x-ratelimit-reset")).toBe(`${later(60_000).getTime() / 1000}`);
    // As draft-ietf-httpapi-ratelimit-headers-11 writes the same.
    const written = [answers[0], refused].map((one) => [
      one?.headers.get("ratelimit-policy"),
      one?.headers.get("ratelimit"),
    ]);
    expect(written).toEqual([
      ['"minute";q=30;w=60', '"minute";r=29;t=60'],
      ['"minute";q=30;w=60', '"minute";r=0;t=60'],
    ]);
  });

  it("has them again when its minute is over, to the millisecond", async () => {
    const caller = from(newAddress());
    await ask(30, caller);

    clock = later(59_999);
    const late = await other.get(anything, caller);
    clock = later(60_000);
    const next = await one.get(anything, caller);

    expect([late.status, late.headers.get("retry-after")]).toEqual([429, "1"]);
    expect([next.status, left(next)]).toEqual([422, "29"]);
  });

  it("has exactly 30 when 100 come at once to two processes", async () => {
    const caller = from(newAddress());

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, time) => (time % 2 ? one : other).get(anything, caller)),
    );

    expect([count(answers, 422), count(answers, 429)]).toEqual([30, 70]);
    const granted = answers.filter(({ status }) => status === 422).map(left);
    expect(new Set(granted).size).toBe(30);
  });

  it("counts a request as one, whatever it carries", async () => {
    const caller = from(newAddress());
    const bulk = { chainId: 1, askIds: Array.from({ length: 40 }, (_, id) => `${id}`) };
    const answers = [];
    for (let time = 0; time < 31; time++)
      answers.push(await one.post("/v1/listings/buy-data-bulk", bulk, caller));
    expect(answers.slice(0, 30).map(left)).toEqual(
      Array.from({ length: 30 }, (_, time) => `${29 - time}`),
    );
    expect(answers.map(({ status }) => status)).toEqual([...Array(30).fill(422), 429]);
  });

  it("is not charged for what was refused", async () => {
    const caller = from(newAddress());
    await ask(45, caller);

    clock = later(60_000);

    expect(count(await ask(31, caller), 422)).toBe(30);
  });

  it.each([
    ["of one IPv6 /64", "2001:db8:7:1::1", "2001:db8:7:1:ffff::2", true],
    ["of another /64", "2001:db8:7:2::1", "2001:db8:7:3::1", false],
    ["in IPv4, mapped or not", "198.51.100.7", "::ffff:198.51.100.7", true],
    ["in IPv4, of its neighbour", "198.51.100.8", "198.51.100.9", false],
  ])("%s: its address is counted with the other's, or apart", async (_case, a, b, isSame) => {
    await ask(30, from(a));
    expect((await other.get(anything, from(b))).status).toBe(isSame ? 429 : 422);
  });

  it("is counted under unknown paths and wrong methods too", async () => {
    const caller = from(newAddress());
    const answers = [
      await fetch(`${one.url}/v1/nothing`, { headers: caller }),
      await fetch(`${one.url}${sales}`, { method: "DELETE", headers: caller }),
      await fetch(`${one.url}${sales}`, { method: "HEAD", headers: caller }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 405, 200]);
    expect(answers.map(left)).toEqual(["29", "28", "27"]);
  });
});

describe("what is not limited", () => {
  it("answers when nothing is left, and tells of no limit", async () => {
    const caller = from(newAddress());
    await ask(31, caller);

    const paths = ["/v1/openapi.json", "/healthz", "/metrics", "/"];
    const answers = await Promise.all(
      paths.map((path) => fetch(one.url + path, { headers: caller })),
    );
    const preflight = await fetch(one.url + sales, {
      method: "OPTIONS",
      headers: { ...caller, origin: "https://a.example", "access-control-request-method": "GET" },
    });

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(preflight.status).toBe(204);
    expect([...answers, preflight].map(left)).toEqual(Array(5).fill(null));
    for (const answer of answers) await answer.arrayBuffer();
  });

  it("has no figures where the limit is 0", async () => {
    const api = await openLimitedApi({ url: database.url, limits: { keyless: 0 } });

    const answers = await Promise.all(
      Array.from({ length: 40 }, () => api.get(anything, from("203.0.113.1"))),
    );
    await api.close();

    expect(count(answers, 422)).toBe(40);
    expect(left(answers[0] as Answer)).toBeNull();
  });
});

it("documents count with the pages, by address and apart from requests to the API", async () => {
  const caller = from(newAddress());
  await ask(31, caller);
  const get = (path: string) => fetch(one.url + path, { headers: caller });

  const document = await get("/llms.txt");
  expect(document.status).toBe(200);
  const remaining = Number(left(document));
  expect(left(await get("/docs/assets/reference.js"))).toBe(String(remaining - 1));
  for (let time = 1; time < remaining; time += 1) await get("/docs/errors");

  const refused = await get("/docs");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ success: false, code: "rate_limited" });
});

describe("a 304", () => {
  it("takes nothing, up to the last request that is left", async () => {
    const caller = from(newAddress());
    const etag = (await one.get(sales, caller)).headers.get("etag") ?? "";
    await ask(28, caller);

    const free: Answer[] = [];
    for (let time = 0; time < 40; time += 1) {
      const api = time % 2 === 0 ? one : other;
      free.push(await api.get(sales, { ...caller, "if-none-match": etag }));
    }
    const last = await ask(2, caller);

    expect(count(free, 304)).toBe(40);
    expect(new Set(free.map(left))).toEqual(new Set(["1"]));
    expect(last.map(({ status }) => status)).toEqual([422, 429]);
  });

  it.each([
    ["the request names no version", sales, "*"],
    ["it was not made from a snapshot", "/v1/status", null],
  ])("counts where %s", async (_, path, named) => {
    const caller = from(newAddress());
    const first = await one.get(path, caller);
    const tag = named ?? first.headers.get("etag") ?? "";
    const again = await one.get(path, { ...caller, "if-none-match": tag });
    expect([again.status, left(again)]).toEqual([304, "28"]);
  });

  it("is free 20 times as often as the limit, then counts", async () => {
    const api = await openLimitedApi({ url: database.url, now, limits: { keyless: 2 } });
    const caller = from(newAddress());
    const etag = (await api.get(sales, caller)).headers.get("etag") ?? "";

    const answers: Answer[] = [];
    for (let time = 0; time < 42; time += 1) {
      answers.push(await api.get(sales, { ...caller, "if-none-match": etag }));
    }
    await api.close();

    expect([count(answers, 304), answers.at(-1)?.status]).toEqual([41, 429]);
  });
});

describe("a caller with a key", () => {
  it.each([
    ["its type's", null, 120],
    ["its own", 5, 5],
  ])("has %s limit, whatever its address, and exactly that", async (_whose, perMinute, limit) => {
    const { key } = await createPermanentKey(database.db, { name: "a", perMinute });

    const answers = await Promise.all(
      Array.from({ length: limit + 10 }, (_, time) =>
        (time % 2 ? one : other).get(anything, from(newAddress(), key)),
      ),
    );

    expect([count(answers, 422), count(answers, 429)]).toEqual([limit, 10]);
    expect(answers[0]?.headers.get("x-ratelimit-limit")).toBe(`${limit}`);
  });

  it("takes nothing from its address", async () => {
    const { key } = await createPermanentKey(database.db, { name: "b", perMinute: null });
    const address = newAddress();
    await ask(10, from(address, key));

    expect(left(await one.get(anything, from(address)))).toBe("29");
  });

  it("counts as one without a key when it makes keys up", async () => {
    const address = newAddress();

    const answers: Answer[] = [];
    for (let time = 0; time < 31; time += 1) {
      answers.push(await one.get(anything, from(address, makeKey("permanent"))));
    }

    expect([count(answers, 401), answers.at(-1)?.status]).toEqual([30, 429]);
    expect(left(answers[0] as Answer)).toBe("29");
    expect((await other.get(anything, from(address))).status).toBe(429);
  });
});

describe("whose word for an address is taken", () => {
  const spoofed = () => from(`${newAddress()}, ${newAddress()}`);

  it("is nobody's without a proxy: who makes addresses up is one caller", async () => {
    const api = await openLimitedApi({ url: database.url, now, trustProxy: [] });

    const answers: Answer[] = [];
    for (let time = 0; time < 31; time += 1) answers.push(await api.get(anything, spoofed()));
    await api.close();

    expect([count(answers, 422), answers.at(-1)?.status]).toEqual([30, 429]);
  });

  it.each([
    ["one proxy", 1],
    ["a proxy's network", ["127.0.0.0/8"]],
  ])("is that of %s, and of nobody before it", async (_whose, trustProxy) => {
    const api = await openLimitedApi({ url: database.url, now, trustProxy });
    const caller = newAddress();

    const answers: Answer[] = [];
    for (let time = 0; time < 31; time += 1) {
      answers.push(await api.get(anything, from(`${newAddress()}, ${caller}`)));
    }
    const stranger = await api.get(anything, from(`${caller}, ${newAddress()}`));
    await api.close();

    expect([count(answers, 422), answers.at(-1)?.status]).toEqual([30, 429]);
    expect(stranger.status).toBe(422);
  });

  it("is the proxy's own when it passes on what is no address", async () => {
    clock = later(600_000);
    const api = await openLimitedApi({ url: database.url, now, trustProxy: 1 });

    const first = await api.get(anything, from("x".repeat(5_000)));
    const second = await api.get(anything, from("unknown"));
    await api.close();

    expect(Number(left(first)) - Number(left(second))).toBe(1);
  });
});

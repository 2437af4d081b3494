import { createServer } from "node:net";
import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeKey } from "#api/keys/key-text.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { createPermanentKey } from "#api/keys/stored-keys.ts";
import { openDatabase } from "#projections/log/database.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  anything,
  from,
  type LimitedApi,
  newAddress,
  openLimitedApi,
} from "#test/support/http/limited-api.ts";

let database: TestDatabase;
let api: LimitedApi;

beforeAll(async () => {
  database = await createDatabase();
  api = await openLimitedApi({ url: database.url });
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

async function statuses(times: number, headers: Record<string, string>): Promise<number[]> {
  const seen: number[] = [];
  for (let time = 0; time < times; time += 1) seen.push((await api.get(anything, headers)).status);
  return seen;
}

/** Throws everyone out of the database and lets nobody in, while `work` is done. */
async function duringOutage(work: () => Promise<void>): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const admin = openDatabase({
    url: database.url.replace(/\/[^/]+$/, "/postgres"),
    applicationName: "test",
    onIdleError: () => {},
  });
  try {
    await sql.raw(`alter database ${name} with allow_connections false`).execute(admin);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`.execute(
      admin,
    );
    await work();
  } finally {
    await sql.raw(`alter database ${name} with allow_connections true`).execute(admin);
    await admin.destroy();
  }
}

describe("while the database cannot be had", () => {
  it("each process counts by itself, exactly, and together again afterwards", async () => {
    const { key } = await createPermanentKey(database.db, { name: "seen", perMinute: 40 });
    const { key: unseen } = await createPermanentKey(database.db, { name: "no", perMinute: 40 });
    const address = newAddress();
    expect(await statuses(5, from(address))).toEqual(Array(5).fill(422));
    expect(await statuses(1, from(newAddress(), key))).toEqual([422]);

    await duringOutage(async () => {
      const other = newAddress();
      expect(await statuses(31, from(other))).toEqual([...Array(30).fill(422), 429]);
      expect(await statuses(41, from(newAddress(), key))).toEqual([...Array(40).fill(422), 429]);
      const guessing = newAddress();
      expect(await statuses(20, from(guessing, unseen))).toEqual(Array(20).fill(422));
      expect(await statuses(11, from(guessing, makeKey("instant")))).toEqual([
        ...Array(10).fill(422),
        429,
      ]);
    });

    await until("a look at keys", async () => {
      const answer = await api.get(anything, from(newAddress(), makeKey("instant")));
      return answer.status === 401;
    });
    const { headers } = await api.get(anything, from(address));
    expect(headers.get("x-ratelimit-remaining")).toBe("24");
  });

  it("a database that does not answer holds nobody up for long", async () => {
    const sockets: { destroy(): void }[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const db = openDatabase({
      url: `postgres://a@127.0.0.1:${port}/a`,
      applicationName: "test",
      onIdleError: () => {},
    });
    const limiter = openLimiter({
      db,
      limits: { keyless: 3, instant: 1, permanent: 1 },
      logger: pino({ level: "silent" }),
      onUse: () => {},
      deadlineMs: 300,
    });

    const begun = performance.now();
    const admissions = await Promise.all(
      Array.from({ length: 5 }, () => limiter.admit({ ip: null, address: "a", key: undefined })),
    );
    const took = performance.now() - begun;
    for (const socket of sockets) socket.destroy();
    silent.close();
    await db.destroy();

    expect(admissions.filter((one) => "rejected" in one)).toHaveLength(2);
    expect(took).toBeLessThan(2_000);
  });
});

it("a malformed key is not looked up, and counts for its address", async () => {
  const db = openDatabase({
    url: "postgres://127.0.0.1:1/x",
    applicationName: "",
    onIdleError: () => {},
  });
  const limiter = openLimiter({
    db,
    limits: { keyless: 5, instant: 1, permanent: 1 },
    logger: pino({ level: "silent" }),
    onUse: () => {},
  });
  const right = makeKey("permanent");
  const turned = right.slice(0, -1) + (right.endsWith("0") ? "1" : "0");

  const keys = ["", "x", turned, `${right} `, `${right}, ${right}`];
  const admissions = [];
  for (const key of keys) admissions.push(await limiter.admit({ ip: null, address: "a", key }));
  expect(admissions).toMatchObject(
    keys.map((_, index) => ({
      rejected: "invalid_key",
      rateLimit: { limit: 5, remaining: 4 - index },
    })),
  );
  // A well-formed one would count as none while the database is away.
  expect(await limiter.admit({ ip: null, address: "a", key: "x" })).toMatchObject({
    rejected: "rate_limited",
  });
  await db.destroy();
});

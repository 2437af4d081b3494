import { sql } from "kysely";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { hashKey, isKey, makeKey } from "#api/keys/key-text.ts";
import { deleteExpiredAccess } from "#api/keys/open-access.ts";
import { createPermanentKey, readKeys, revokeKey } from "#api/keys/stored-keys.ts";
import { openSwitch, setPaused } from "#projections/log/operators.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  anything,
  from,
  type LimitedApi,
  newAddress,
  openLimitedApi,
} from "#test/support/http/limited-api.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const dayMs = 86_400_000;

let database: TestDatabase;
let one: LimitedApi;
let other: LimitedApi;
let clock = start;
const now = () => clock;
const later = (ms: number) => new Date(start.getTime() + ms);

beforeAll(async () => {
  database = await createDatabase();
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

const Given = z.object({ data: z.looseObject({ key: z.string(), expiresAt: z.string() }) });

const askKey = (api: LimitedApi, address: string) =>
  api.post("/v1/auth/keys", undefined, from(address));

async function instantKey(address = newAddress()): Promise<string> {
  return Given.parse((await askKey(one, address)).body).data.key;
}

const statusWith = async (api: LimitedApi, key: string) =>
  (await api.get(anything, from(newAddress(), key))).status;

describe("POST /v1/auth/keys", () => {
  it("gives a key for seven days and 60 requests a minute", async () => {
    const { status, body, headers } = await askKey(one, newAddress());

    const { key } = Given.parse(body).data;
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      data: {
        key,
        type: "instant",
        requestsPerMinute: 60,
        expiresAt: later(7 * dayMs).toISOString(),
        docs: "https://api.example.test/docs",
      },
    });
    expect(isKey(key)).toBe(true);
    expect(headers.get("cache-control")).toBe("no-store");
    const answers = await Promise.all(
      Array.from({ length: 61 }, (_, time) =>
        (time % 2 ? one : other).get(anything, from(newAddress(), key)),
      ),
    );
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(1);
  });

  it("gives an address three in 24 hours, and says when there is another", async () => {
    const address = newAddress();
    for (const ms of [0, 1_000, 2_000]) {
      clock = later(ms);
      expect((await askKey(one, address)).status).toBe(201);
    }

    clock = later(3_000);
    const fourth = await askKey(other, address);
    clock = later(dayMs - 1);
    const early = await askKey(one, address);
    clock = later(dayMs);
    const next = await askKey(one, address);
    const after = await askKey(other, address);

    expect([fourth.status, fourth.headers.get("retry-after")]).toEqual([429, `${86_400 - 3}`]);
    expect(fourth.body).toMatchObject({ success: false, code: "rate_limited" });
    expect([early.status, early.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(next.status).toBe(201);
    expect([after.status, after.headers.get("retry-after")]).toEqual([429, "1"]);
  });

  it("gives exactly three when many are asked for at once, over one IPv6 /64 and two processes", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, time) =>
        askKey(time % 2 ? one : other, `2001:db8:9:9::${time}`),
      ),
    );

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect((await askKey(one, "2001:db8:9:a::1")).status).toBe(201);
  });

  it("gives none while an operator has stopped them, and says to ask later", async () => {
    const api = await openLimitedApi({
      url: database.url,
      isPaused: openSwitch(database.db, "instant-keys"),
    });
    await setPaused(database.db, "instant-keys", true);

    const refused = await askKey(api, newAddress());
    await setPaused(database.db, "instant-keys", false);
    const given = await until("keys again", async () => {
      const answer = await askKey(api, newAddress());
      return answer.status === 201 && answer;
    });
    await api.close();

    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3600"]);
    expect(given.status).toBe(201);
  });

  it("lets an address collect keys, but no more requests a minute than three keys have", async () => {
    const address = newAddress();
    const keys: string[] = [];
    for (const day of [0, 1]) {
      clock = later(day * dayMs);
      for (const _ of [1, 2, 3]) keys.push(await instantKey(address));
    }
    const admittedWith = async (chosen: readonly string[]) => {
      const sent = chosen.flatMap((key) => Array.from({ length: 65 }, () => statusWith(one, key)));
      return (await Promise.all(sent)).filter((status) => status === 422).length;
    };

    expect(await admittedWith(keys.slice(3))).toBe(3 * 60);
    expect(await admittedWith(keys.slice(0, 3))).toBe(0);
    const stranger = await instantKey();
    expect(await statusWith(one, stranger)).toBe(422);
  });

  it("costs a request of the address", async () => {
    const address = newAddress();
    await askKey(one, address);
    const { headers } = await other.get(anything, from(address));
    expect(headers.get("x-ratelimit-remaining")).toBe("28");
  });
});

describe("a key", () => {
  it("is nowhere in the database but as its hash", async () => {
    const key = await instantKey();

    const { rows } = await sql<{ text: string; hash: string }>`
      select k::text as text, encode(hash, 'hex') as hash from access.key k
      where hash = ${hashKey(key)}`.execute(database.db);
    expect(rows[0]?.hash).toBe(hashKey(key).toString("hex"));
    expect(rows[0]?.text).not.toContain(key.slice(8, 51));
  });

  it("that is revoked fails on the next request of every process", async () => {
    const keys = [
      await instantKey(),
      (await createPermanentKey(database.db, { name: "a", perMinute: null })).key,
    ];
    for (const key of keys) {
      expect([await statusWith(one, key), await statusWith(other, key)]).toEqual([422, 422]);

      await revokeKey(database.db, { hash: hashKey(key) });

      for (const api of [one, other]) {
        const refused = await api.get(anything, from(newAddress(), key));
        expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
          401,
          'ApiKey header="X-API-Key", error="revoked_key"',
        ]);
        expect(refused.body).toMatchObject({ success: false, code: "revoked_key" });
      }
    }
  });

  it("that is an instant one ends after seven days, and its 401 says what to do", async () => {
    const key = await instantKey();

    clock = later(7 * dayMs - 1);
    expect(await statusWith(one, key)).toBe(422);
    clock = later(7 * dayMs);
    const refused = await one.get(anything, from(newAddress(), key));

    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({
      code: "expired_key",
      message: expect.stringMatching(/instant key has expired.*POST \/v1\/auth\/keys/),
    });
  });

  it("that is a permanent one does not end by itself", async () => {
    const { key } = await createPermanentKey(database.db, { name: "b", perMinute: null });
    clock = later(3_650 * dayMs);
    expect(await statusWith(one, key)).toBe(422);
  });

  it.each([
    ["none at all", "key"],
    ["mistyped", makeKey("instant").slice(0, -1)],
    ["made up", makeKey("permanent")],
  ])("that is %s is refused, on writes too", async (_how, key) => {
    for (const answer of [
      await one.get(anything, from(newAddress(), key)),
      await one.post("/v1/orders/asks", { chainId: 33139 }, from(newAddress(), key)),
    ]) {
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ success: false, code: "invalid_key" });
      expect(answer.headers.get("x-ratelimit-remaining")).toBe("29");
    }
  });

  it("that is empty counts as none", async () => {
    const answer = await one.get(anything, from(newAddress(), ""));
    expect([answer.status, answer.headers.get("x-ratelimit-limit")]).toEqual([422, "30"]);
  });

  it("and what a minute has seen are still known after a restart", async () => {
    const key = await instantKey();
    const address = newAddress();
    await one.get(anything, from(address));
    await one.get(anything, from(address, key));

    const restarted = await openLimitedApi({ url: database.url, now });
    const keyless = await restarted.get(anything, from(address));
    const keyed = await restarted.get(anything, from(address, key));
    await restarted.close();

    expect(keyless.headers.get("x-ratelimit-remaining")).toBe("28");
    expect(keyed.headers.get("x-ratelimit-remaining")).toBe("58");
  });
});

describe("the use of a key", () => {
  it("is written down now and then, by day, once for both processes", async () => {
    const { id, key } = await createPermanentKey(database.db, { name: "used", perMinute: null });
    for (const ms of [0, 1_000, dayMs]) {
      clock = later(ms);
      for (const api of [one, other]) await statusWith(api, key);
    }
    const use = async () => {
      const { rows } = await sql<{ day: string; requests: bigint }>`
        select day::text as day, requests from access.usage where key_id = ${id} order by day`.execute(
        database.db,
      );
      return rows;
    };
    expect(await use()).toEqual([]);

    await Promise.all([one.flushUsage(), other.flushUsage()]);
    await one.flushUsage();

    expect(await use()).toEqual([
      { day: "2026-03-10", requests: 4n },
      { day: "2026-03-11", requests: 2n },
    ]);
    const kept = await readKeys(database.db, { type: "permanent", includeEnded: false });
    expect(kept.find((one) => one.id === id)).toMatchObject({
      name: "used",
      ending: key.slice(-4),
      lastUsedAt: later(dayMs),
    });
  });
});

describe("a log", () => {
  it("tells everything of a request but its key", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const broken = await createDatabase({ template: "projected" });
    const api = await openLimitedApi({ url: broken.url, logger });
    const { key } = await createPermanentKey(broken.db, { name: "c", perMinute: null });
    const madeUp = makeKey("permanent");

    // A fault, which is logged with its cause.
    await sql`alter table sales.sale rename to lost`.execute(broken.db);
    const fault = await api.get("/v1/sales?chainId=33139", from(newAddress(), key));
    await api.get(`${anything}&api_key=${key}`, from(newAddress(), madeUp));
    await fetch(`${api.url}/v1/auth/keys`, { method: "POST", headers: from(newAddress()) })
      .then((response) => response.json())
      .then((body) => expect(lines.join()).not.toContain(Given.parse(body).data.key));
    await api.close();
    await broken.drop();

    const told = lines.join();
    expect(fault.status).toBe(500);
    expect(told).toContain("request failed");
    expect(told).toContain("mk_live_***");
    for (const secret of [key, madeUp]) expect(told).not.toContain(secret.slice(8));
  });
});

it("what is over is swept: minutes, addresses of expired instant keys, instant keys of a month ago", async () => {
  const { db } = database;
  await sql`insert into access.minute (caller, began_at, per_minute, used, granted)
    values ('old', now() - interval '3 minutes', 1, 1, 1), ('new', now(), 1, 1, 1)`.execute(db);
  const row = (ending: string, age: string) =>
    sql`
    insert into access.key (hash, type, ending, created_at, created_from, expires_at)
    values (sha256(${ending}::bytea), 'instant', ${ending}, now() - ${age}::interval, '192.0.2.1',
            now() - ${age}::interval + interval '7 days')`.execute(db);
  await row("hour", "1 hour");
  await row("days", "6 days");
  await row("week", "8 days");
  await row("old", "38 days");

  await Promise.all([deleteExpiredAccess(db, new Date()), deleteExpiredAccess(db, new Date())]);

  const minutes = await sql<{ caller: string }>`
    select caller from access.minute where caller in ('old', 'new')`.execute(db);
  const keys = await sql<{ ending: string; from: string | null }>`
    select ending, created_from as from from access.key where ending in ('hour', 'days', 'week', 'old')
    order by created_at`.execute(db);
  expect(minutes.rows).toEqual([{ caller: "new" }]);
  expect(keys.rows).toEqual([
    { ending: "week", from: null },
    { ending: "days", from: "192.0.2.1" },
    { ending: "hour", from: "192.0.2.1" },
  ]);
});

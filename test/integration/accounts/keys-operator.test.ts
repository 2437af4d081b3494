import { afterAll, beforeAll, expect, it } from "vitest";
import { makeKey } from "#api/keys/key-text.ts";
import { operate } from "#test/support/database/operator.ts";
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

const op = (...args: string[]) => operate(database.url, "keys", ...args);

it("op keys makes a key that works, lists it without telling it, and ends it at once", async () => {
  const made = await op("create", "--name", "indexer of a friend", "--per-minute", "7", "--json");
  const { id, key } = JSON.parse(made.out);
  const works = await api.get(anything, from(newAddress(), key));
  const listed = await op("list");
  const revoked = await op("revoke", `${id}`, "--json");
  const refused = await api.get(anything, from(newAddress(), key));
  const [again, left, ended] = await Promise.all([
    op("revoke", key),
    op("list", "--json"),
    op("list", "--ended"),
  ]);

  expect(JSON.parse(made.out)).toMatchObject({ name: "indexer of a friend", requestsPerMinute: 7 });
  expect([works.status, works.headers.get("x-ratelimit-limit")]).toEqual([422, "7"]);
  expect(listed.out).toMatch(
    new RegExp(`${id} +indexer of a friend +${key.slice(-4)} +7 a minute .* valid`),
  );
  expect(listed.out).not.toContain(key);
  expect([revoked.code, JSON.parse(revoked.out)]).toEqual([0, { id, hasChanged: true }]);
  expect([refused.status, refused.body]).toMatchObject([401, { code: "revoked_key" }]);
  expect([again.code, again.out]).toEqual([0, `key ${id} was already revoked\n`]);
  expect(JSON.parse(left.out)).toEqual({ keys: [] });
  expect(ended.out).toContain("revoked");
});

it("op keys says what it does not understand, and what is not there", async () => {
  const outcomes = await Promise.all([
    op("create"),
    op("create", "--name", "a", "--per-minute", "0"),
    op("revoke", "mk_live_x"),
    op("revoke", "999"),
    op("revoke", makeKey("permanent")),
  ]);

  expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 1, 1]);
});

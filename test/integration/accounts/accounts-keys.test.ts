import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import {
  type Browser,
  keyIdOf,
  type Page,
  password,
  secretIn,
  signUp,
  statusWith,
} from "./accounts-fixture.ts";
import { useTwoDesks } from "./two-desks.ts";

const start = new Date("2026-03-10T12:00:00.000Z");
const dayMs = 86_400_000;
const desks = useTwoDesks(start);

/** With the password, which a session of a day needs. */
const create = (browser: Browser, name = "bot") =>
  browser.post("/developers/keys", { name, "proof-password": password });

async function createKey(browser: Browser, name = "bot"): Promise<{ key: string; id: string }> {
  const page = await create(browser, name);
  const key = secretIn(page, "live");
  return { key, id: keyIdOf(page, key) };
}

const rotate = (browser: Browser, id: string) => browser.post(`/developers/keys/${id}/rotate`);
const revoke = (browser: Browser, id: string) => browser.post(`/developers/keys/${id}/revoke`);

describe("a permanent key of an account", () => {
  it("is shown once, works at once in every process, and only its hash is kept", async () => {
    const browser = await signUp(desks.one);
    const made = await create(browser, "price <b>bot</b>");
    const key = secretIn(made, "live");
    const page = await browser.get("/developers");

    expect(made.status).toBe(200);
    expect(made.text).toContain("price &#60;b&#62;bot");
    expect([await statusWith(desks.one, key), await statusWith(desks.other, key)]).toEqual([
      422, 422,
    ]);
    expect(page.text).not.toContain(key);
    expect(page.text).toContain(`&#8230;${key.slice(-4)}`);
    const { rows } = await sql<{ text: string }>`select k::text as text from access.key k`.execute(
      desks.database.db,
    );
    expect(rows.map(({ text }) => text).join()).not.toContain(key.slice(8, 51));
  });

  it("fails on the next request of another process once it is revoked", async () => {
    const browser = await signUp(desks.one);
    const { key, id } = await createKey(browser);
    const before = await statusWith(desks.other, key);
    const { location } = await revoke(browser, id);

    expect([before, location, await statusWith(desks.other, key)]).toEqual([
      422,
      "/developers?done=key-revoked",
      401,
    ]);
    expect((await browser.get("/developers?done=key-revoked")).text).toContain(
      "Requests with it fail from now on",
    );
    expect((await revoke(browser, id)).status).toBe(404);
  });

  it("stays valid for exactly 24 hours after it was replaced", async () => {
    const browser = await signUp(desks.one);
    const { key: old, id } = await createKey(browser, "rotated");
    const made = await rotate(browser, id);
    const key = secretIn(made, "live");

    desks.clock = desks.later(dayMs - 1);
    const during = [await statusWith(desks.one, old), await statusWith(desks.one, key)];
    desks.clock = desks.later(dayMs);
    const after = [await statusWith(desks.one, old), await statusWith(desks.one, key)];

    expect(made.text).toMatch(/The key &#8220;rotated&#8221;.*stays valid for 24 hours/s);
    expect([during, after]).toEqual([
      [422, 422],
      [401, 422],
    ]);
  });

  it("has one beside it at most: a second rotation ends the first of three", async () => {
    const browser = await signUp(desks.one);
    const { key: first, id } = await createKey(browser);
    const page = await rotate(browser, id);
    const second = secretIn(page, "live");
    const again = await rotate(browser, id);
    const third = secretIn(await rotate(browser, keyIdOf(page, second)), "live");

    expect(again.status).toBe(404);
    const statuses = await Promise.all(
      [first, second, third].map((key) => statusWith(desks.one, key)),
    );
    expect(statuses).toEqual([401, 422, 422]);
  });

  it("is one of ten at most, also when many are asked for at once", async () => {
    const browser = await signUp(desks.one);
    const copies = Array.from({ length: 14 }, () => browser.at(desks.one));
    for (const copy of copies) await copy.get("/developers");
    const pages = await Promise.all(copies.map((copy) => create(copy)));
    const keys = pages.filter(({ status }) => status === 200).map((page) => secretIn(page, "live"));

    expect(keys).toHaveLength(10);
    expect(pages.filter(({ status }) => status === 409)).toHaveLength(4);
    const page = await browser.get("/developers");
    expect(page.text).toContain("An account can have 10 keys");
    await revoke(browser, keyIdOf(page, keys[0] ?? ""));
    expect((await create(browser)).status).toBe(200);
  });

  it("is one of thirty a day at most: a new key is no new limit without end", async () => {
    const browser = await signUp(desks.one);
    const madeAndRevoked = async (): Promise<Page> => {
      const page = await create(browser);
      await revoke(browser, keyIdOf(page, secretIn(page, "live")));
      return page;
    };
    const statuses: number[] = [];
    for (let time = 0; time < 30; time += 1) statuses.push((await madeAndRevoked()).status);
    const refused = await create(browser);
    desks.clock = desks.later(dayMs);

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "86400"]);
    expect((await create(browser)).status).toBe(200);
  });

  it("belongs to its account: nobody else rotates or revokes it", async () => {
    const [owner, stranger] = [await signUp(desks.one), await signUp(desks.one)];
    const { key, id } = await createKey(owner);

    const refused = [await rotate(stranger, id), await revoke(stranger, id)];

    expect(refused.map(({ status }) => status)).toEqual([404, 404]);
    expect(await statusWith(desks.one, key)).toBe(422);
    expect((await stranger.get("/developers")).text).toContain("no keys yet");
  });

  it.each([
    ["no name", " "],
    ["a long name", "n".repeat(61)],
    ["a name of two lines", "a\nb"],
    ["a name with NUL", "a\0b"],
  ])("is not made with %s, and the page says so beside the field", async (_how, name) => {
    const refused = await create(await signUp(desks.one), name);

    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/name="name".*aria-invalid="true".*id="name-error" role="alert"/s);
  });
});

describe("the use of an account's keys", () => {
  it("is drawn by day, over keys that have ended too, and is nobody else's", async () => {
    const [owner, stranger] = [await signUp(desks.one), await signUp(desks.one)];
    const { key, id } = await createKey(owner);
    await statusWith(desks.one, key);
    await revoke(owner, id);
    desks.clock = desks.later(dayMs);
    const { key: next } = await createKey(owner);
    for (let time = 0; time < 3; time += 1) await statusWith(desks.other, next);
    await Promise.all([desks.one.flushUsage(), desks.other.flushUsage()]);

    const { text } = await owner.get("/developers");
    expect(text).toContain("<title>2026-03-10: 1</title>");
    expect(text).toContain("<title>2026-03-11: 3</title>");
    expect(text.match(/<rect /g)).toHaveLength(30);
    expect(text).toContain("4 in total, 3 on the busiest day");
    expect((await stranger.get("/developers")).text).toContain("No requests in the last");
  });
});

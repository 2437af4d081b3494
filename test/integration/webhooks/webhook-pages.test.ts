import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { disableWebhook, readTries, readWebhooks } from "#api/webhooks/stored-webhooks.ts";
import type { Database } from "#projections/log/database.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  type Browser,
  type Desk,
  openDesk,
  password,
  signUp,
} from "../accounts/accounts-fixture.ts";
import { openReceivers, type Receivers } from "./receivers.ts";
import { expectVerified } from "./verifying.ts";

let database: TestDatabase;
let db: Database;
let desk: Desk;
let receivers: Receivers;
beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  receivers = await openReceivers();
  desk = await openDesk({ databaseUrl: database.url, webhookOrigins: [receivers.origin] });
});
afterAll(async () => {
  await desk?.close();
  await receivers?.close();
  await database?.drop();
});

const form = (path: string) => ({ url: receivers.origin + path, chain: "33139" });

async function make(owner: Browser, path: string, more: Record<string, string> = {}) {
  const page = await owner.post("/developers/new-webhook", { ...form(path), ...more });
  expect(page.status, page.text).toBe(200);
  const [secret = ""] = /whsec_[A-Za-z0-9+/]{43}=/.exec(page.text) ?? [];
  const [, id = ""] = /\/developers\/webhooks\/(\d+)"/.exec(page.text) ?? [];
  return { secret, id, at: `/developers/webhooks/${id}` };
}

describe("the webhooks of a signed-in owner, without scripts", () => {
  it("are made, tested, replayed, rotated, disabled and deleted", async () => {
    const owner = await signUp(desk);
    expect((await owner.get("/developers/webhooks")).text).toContain("There are no webhooks yet");
    const filters = { types: "sale, listing,sale", wallet: `0x${"A".repeat(40)}` };
    const { secret, id, at } = await make(owner, "/story", { ...filters, delivery: "final" });
    const [stored] = await readWebhooks(db);
    expect(stored).toMatchObject({
      ...{ id: Number(id), delivery: "final", types: ["sale", "listing"], collection: null },
      wallet: `0x${"a".repeat(40)}`,
    });
    expect((await owner.get("/developers/webhooks")).text).not.toContain(secret);

    const tested = await owner.post(`${at}/test`);
    expect(tested.text).toContain("The test was answered with 200");
    const [received] = receivers.at("/story");
    if (received === undefined) throw new Error("nothing was sent");
    expectVerified(received, secret);
    expect(tested.text).toContain(received.id);

    expect((await owner.post(`${at}/replay`, { after: "0-0" })).location).toBe(`${at}?done=replay`);
    const rotated = await owner.post(`${at}/rotate`);
    const [newSecret = ""] = /whsec_[A-Za-z0-9+/]{43}=/.exec(rotated.text) ?? [];
    expect([newSecret, secret]).not.toContain("");
    expect(newSecret).not.toBe(secret);
    await owner.post(`${at}/test`);
    const last = receivers.at("/story").at(-1);
    if (last === undefined) throw new Error("nothing was sent");
    expectVerified(last, secret);
    expectVerified(last, newSecret);

    await owner.post(`${at}/disable`);
    expect((await owner.get(at)).text).toContain("disabled by you");
    await owner.post(`${at}/enable`);
    expect((await owner.get(at)).text).toMatch(/<dt>State<\/dt><dd>delivering<\/dd>/);
    await owner.post(`${at}/delete`);
    expect((await owner.get(at)).status).toBe(404);
  });

  it("are changed in address and filters, as they stand in the form", async () => {
    const owner = await signUp(desk);
    const { id, secret, at } = await make(owner, "/before", { types: "sale, mint" });
    const { text } = await owner.get(at);
    for (const value of [`${receivers.origin}/before`, "sale, mint"])
      expect(text).toContain(`value="${value}"`);
    const wallet = `0x${"B".repeat(40)}`;
    const changed = { ...form("/after"), types: "", collection: `0x${"1".repeat(40)}`, wallet };
    expect((await owner.post(`${at}/change`, changed)).location).toBe(`${at}?done=changed`);
    const stored = async () => (await readWebhooks(db)).find((one) => one.id === Number(id));
    const { url, ...filters } = (await stored()) ?? {};
    expect([url, filters]).toEqual([
      `${receivers.origin}/after`,
      expect.objectContaining({
        ...{ types: null, collection: `0x${"1".repeat(40)}`, wallet: wallet.toLowerCase() },
      }),
    ]);
    await owner.post(`${at}/test`);
    const [received] = receivers.at("/after");
    if (received === undefined) throw new Error("nothing was sent");
    expectVerified(received, secret);

    for (const [wrong, message] of [
      [{ url: "http://example.com/" }, "http: is not allowed"],
      [{ types: "sales" }, "is no type of an event"],
      [{ wallet: "bob.eth" }, "An address is 0x"],
    ] as const) {
      const page = await owner.post(`${at}/change`, { ...changed, ...wrong });
      expect([page.status, page.text]).toEqual([422, expect.stringContaining(message)]);
      expect(page.text).toContain(`value="${Object.values(wrong)[0]}"`);
    }
    expect((await stored())?.url).toBe(url);
  });

  it.each([
    [{ url: "https://10.0.0.1/" }, "10.0.0.1 is not on the public internet"],
    [{ url: "" }, "The address is no URL"],
    [{ chain: "1" }, "Choose one of these chains"],
    [{ types: "sale,<b>" }, "&#60;b&#62;&#8221; is no type of an event"],
    [{ collection: "apes" }, "An address is 0x and 40 hexadecimal digits"],
    [{ wallet: "0x1" }, "An address is 0x and 40 hexadecimal digits"],
  ])("are refused with %j, and what was typed stays", async (wrong, message) => {
    const owner = await signUp(desk);
    const before = (await readWebhooks(db)).length;
    const typed = { ...form("/kept"), types: "burn", ...wrong };
    const page = await owner.post("/developers/new-webhook", typed);
    expect([page.status, page.text]).toEqual([422, expect.stringContaining(message)]);
    expect(page.text).toContain(`value="${typed.types.replace("<b>", "&#60;b&#62;")}"`);
    expect(await readWebhooks(db)).toHaveLength(before);
  });

  it("are ten at most, and then there is no form", async () => {
    const owner = await signUp(desk);
    for (let made = 0; made < 10; made += 1) await make(owner, `/ten${made}`);
    expect((await owner.get("/developers/webhooks")).text).not.toContain("Create webhook");
    expect((await owner.post("/developers/new-webhook", form("/eleven"))).status).toBe(409);
  });

  it("show addresses and answers of others as texts", async () => {
    const owner = await signUp(desk);
    const { id, at } = await make(owner, "/?a=<script>alert(1)</script>&b='\"");
    await sql`
      insert into access.webhook_delivery (webhook_id, event_id, type, at, attempt, failure, duration_ms)
      select ${Number(id)}, n || '-1', 'sale', now(), 1, '<img src=x onerror=alert(1)>', 3
      from generate_series(1, 60) n`.execute(db);
    for (const path of ["/developers/webhooks", at]) {
      const { text } = await owner.get(path);
      expect(text).not.toMatch(/<script>|<img src=x|onerror=a[^&]*>/);
    }
    const { text } = await owner.get(at);
    expect(text.match(/&#60;img src=x/g)).toHaveLength(50);
    const [, before = ""] = /\?before=(\d+)"/.exec(text) ?? [];
    const older = await owner.get(`${at}?before=${before}`);
    expect(older.text.match(/&#60;img src=x/g)).toHaveLength(10);
  });

  it("need a recent proof for a secret", async () => {
    const owner = await signUp(desk);
    const { at } = await make(owner, "/proof");
    await sql`
      update access.session set authenticated_at = now() - interval '1 day'
      where account_id = (select id from access.account where email = ${owner.email})`.execute(db);
    for (const [path, fields] of [
      ["/developers/new-webhook", form("/proof")],
      [`${at}/rotate`, {}],
    ] as const) {
      const asked = await owner.post(path, fields);
      expect([asked.status, asked.text]).toEqual([401, expect.not.stringContaining("whsec_")]);
    }
    const proven = { "proof-password": password };
    expect((await owner.post(`${at}/rotate`, proven)).text).toContain("whsec_");
  });
});

describe("a webhook of another account", () => {
  const actions = ["test", "change", "replay", "enable", "disable", "rotate", "delete"];

  it("is not there, for any page or form", async () => {
    const [owner, other] = [await signUp(desk), await signUp(desk)];
    const { id, at } = await make(owner, "/mine");
    const read = async () => (await readWebhooks(db)).find((one) => one.id === Number(id));
    const before = await read();
    await other.get("/developers/webhooks");
    for (const path of [at, "/developers/webhooks/x", "/developers/webhooks/99999999999"])
      expect((await other.get(path)).status).toBe(404);
    for (const action of actions)
      expect([
        action,
        (await other.post(`${at}/${action}`, { ...form("/theirs"), after: "0-0" })).status,
      ]).toEqual([action, 404]);
    expect(await read()).toEqual(before);
    expect(await readTries(db, Number(id), { before: null, limit: 5 })).toEqual([]);
  });

  it("and one's own are not changed by forms of other sites", async () => {
    const owner = await signUp(desk);
    const { at } = await make(owner, "/foreign");
    const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    for (const action of actions) {
      expect((await owner.post(`${at}/${action}`, {}, foreign)).status).toBe(403);
      expect((await owner.post(`${at}/${action}`, { form: "guessed" })).status).toBe(403);
    }
    expect((await owner.get(at)).text).toContain("delivering");
  });
});

it("what an operator disabled has no button, and its form is refused", async () => {
  const owner = await signUp(desk);
  const { id, at } = await make(owner, "/operator");
  await disableWebhook({ db, clock: () => null }, { id: Number(id) }, "operator");
  const { text } = await owner.get(at);
  expect(text).toContain("disabled by an operator");
  expect(text).not.toContain(`${at}/enable`);
  const refused = await owner.post(`${at}/enable`);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("ask them")]);
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createPermanentKey, openInstantKeys } from "#api/keys/stored-keys.ts";
import { disableWebhook, enableWebhook, readWebhooks } from "#api/webhooks/stored-webhooks.ts";
import type { Database } from "#projections/log/database.ts";
import { makeCheckpoints, transferred } from "#test/integration/feed/feed-stage.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type Deliverer, startDelivering } from "./delivering.ts";
import { openReceivers, type Receivers } from "./receivers.ts";
import { expectVerified } from "./verifying.ts";
import {
  callerWith,
  type Owner,
  openOwner,
  openWebhookDesk,
  type WebhookDesk,
} from "./webhook-desk.ts";

let database: TestDatabase;
let db: Database;
let receivers: Receivers;
let api: WebhookDesk;
let deliverer: Deliverer | undefined;
beforeAll(async () => {
  database = await createDatabase();
  db = database.db;
  await makeCheckpoints(db);
  receivers = await openReceivers();
  api = await openWebhookDesk(database.url, [receivers.origin]);
});
afterEach(async () => {
  await deliverer?.stop();
  deliverer = undefined;
});
afterAll(async () => {
  await api?.close();
  await receivers?.close();
  await database?.drop();
});

const chainId = 33139;
const storage = () => ({ db, clock: () => null });
const newOwner = () => openOwner(db, api);

type Created = { webhookId: string; secret: string };

let places = 0;
/** A path that no other test uses. */
function newPath(): string {
  places += 1;
  return `/${places}`;
}

async function create(owner: Owner, path: string, more: object = {}): Promise<Created> {
  const url = receivers.origin + path;
  const { status, data } = await owner.post("/v1/webhooks", { url, chainId, ...more });
  expect(status, JSON.stringify(data)).toBe(201);
  return data as Created;
}

function deliver(): Deliverer {
  deliverer = startDelivering({ db, sending: { allowedOrigins: [receivers.origin] } });
  return deliverer;
}

describe("a key", () => {
  it("must be of an account and have the scope", async () => {
    const anybody = callerWith(api, undefined);
    expect(await anybody.get("/v1/webhooks")).toMatchObject({ status: 401, code: "key_required" });
    const instant = openInstantKeys({
      ...{ db, requestsPerMinute: 60, docs: "https://api.example.test/docs" },
      isPaused: async () => false,
    });
    const { key: instantKey } = (await instant.create("10.1.1.1")) as { key: string };
    const { key: ofOperator } = await createPermanentKey(db, { name: "x", perMinute: 1_000_000 });
    for (const key of [instantKey, ofOperator]) {
      const refused = { status: 403, code: "account_required" };
      expect(await callerWith(api, key).get("/v1/webhooks")).toMatchObject(refused);
      const asked = { url: "https://hooks.example.com", chainId };
      expect(await callerWith(api, key).post("/v1/webhooks", asked)).toMatchObject(refused);
    }
    const trader = await openOwner(db, api, ["read", "orders", "stream"]);
    const noScope = { status: 403, code: "insufficient_scope" };
    expect(await trader.get("/v1/webhooks")).toMatchObject(noScope);
    expect(await trader.post("/v1/webhooks/1/test")).toMatchObject(noScope);
    const everything = await openOwner(db, api, null);
    expect(await everything.get("/v1/webhooks")).toMatchObject({ status: 200, data: [] });
    const owner = await newOwner();
    expect(await owner.get(`/v1/sales?chainId=${chainId}`)).toMatchObject(noScope);
  });
});

describe("a new webhook", () => {
  it("is what was asked for, and its secret is shown only once", async () => {
    const owner = await newOwner();
    const wallet = `0x${"aB".repeat(20)}`;
    const filters = { types: ["sale", "sale", "listing"], collection: wallet, wallet };
    const asked = { ...filters, delivery: "final", after: "0-0" };
    const { secret, ...webhook } = await create(owner, "/hooks?a=b#part", asked);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toMatchObject({
      url: `${receivers.origin}/hooks?a=b`,
      chainId,
      delivery: "final",
      types: ["sale", "listing"],
      collection: wallet.toLowerCase(),
      wallet: wallet.toLowerCase(),
      after: "0-0",
      isEnabled: true,
      disabledBy: null,
      failures: 0,
    });
    const { data, headers } = await owner.get("/v1/webhooks");
    expect(data).toEqual([webhook]);
    expect(headers.get("cache-control")).toBe("private, no-store");
    const one = `/v1/webhooks/${webhook.webhookId}`;
    expect((await owner.get(one)).data).toEqual(webhook);
    const refused = { status: 422, code: "bad_structure" };
    expect(await owner.post(one, { delivery: "latest" })).toMatchObject(refused);
  });

  it.each([
    ["http://hooks.example.com/", "http: is not allowed"],
    ["https://127.0.0.1/", "127.0.0.1 is not on the public internet"],
    ["https://2130706433/", "127.0.0.1 is not on the public internet"],
    ["https://[::ffff:10.0.0.1]/", "is not on the public internet"],
    ["https://169.254.169.254/latest/meta-data", "is not on the public internet"],
    ["https://user:secret@hooks.example.com/", "credentials in a URL are not allowed"],
    ["https://hooks.example.com:22/", "port 22 is not allowed"],
    ["file:///etc/passwd", "file: is not allowed"],
    ["hooks.example.com", "is no URL"],
    [`https://hooks.example.com/${"é".repeat(900)}`, "longer than 2000 characters"],
  ])("is not sent to %s, nor is one that is changed", async (url, reason) => {
    const owner = await newOwner();
    const { webhookId } = await create(owner, newPath());
    for (const path of ["/v1/webhooks", `/v1/webhooks/${webhookId}`]) {
      const { body, status } = await refusalOf(owner, path, url);
      expect([status, body]).toMatchObject([
        422,
        { code: "bad_webhook_url", message: expect.stringContaining(reason) },
      ]);
    }
    expect(await readWebhooks(db, owner.accountId)).toHaveLength(1);
  });

  async function refusalOf(owner: Owner, path: string, url: string) {
    const { key } = await createPermanentKey(db, {
      ...{ name: "again", perMinute: 1_000_000, accountId: owner.accountId },
    });
    return await api.post(path, { url, chainId }, { "x-api-key": key });
  }

  it.each([
    [{ types: [] }, "bad_structure"],
    [{ types: ["sold"] }, "bad_structure"],
    [{ collection: "apes" }, "bad_structure"],
    [{ wallet: 1 }, "bad_structure"],
    [{ delivery: "soon" }, "bad_structure"],
    [{ url: undefined }, "bad_structure"],
    [{ secret: "whsec_AAAA" }, "bad_structure"],
    [{ after: "yesterday" }, "invalid_cursor"],
    [{ after: "999999999999999999-0" }, "invalid_cursor"],
    [{ chainId: 5 }, "unsupported_chain"],
    [{ chainId: 1 }, "unsupported_chain"],
  ])("is refused with %j", async (wrong, code) => {
    const owner = await newOwner();
    const asked = { url: receivers.origin, chainId, ...wrong };
    expect(await owner.post("/v1/webhooks", asked)).toMatchObject({ status: 422, code });
    expect(await readWebhooks(db, owner.accountId)).toEqual([]);
  });

  it("is one of ten at most, however many are asked for at once", async () => {
    const owner = await newOwner();
    const asked = { url: receivers.origin, chainId };
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => owner.post("/v1/webhooks", asked)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(201), ...Array(5).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.code).toBe("too_many_webhooks");
    const [first] = await readWebhooks(db, owner.accountId);
    await owner.post(`/v1/webhooks/${first?.id}/delete`);
    expect((await owner.post("/v1/webhooks", asked)).status).toBe(201);
  });
});

describe("a webhook of another account", () => {
  it("is as one that does not exist, to every operation", async () => {
    const [owner, other] = [await newOwner(), await newOwner()];
    const path = newPath();
    const { webhookId } = await create(owner, path);
    const before = await owner.get("/v1/webhooks");
    const numbers = [webhookId, "0", "-1", "1e3", "0x1", "99999999999", "1%00", "1%20or%201=1"];
    const missing = { status: 404, code: "webhook_not_found" };
    for (const number of numbers) {
      const one = `/v1/webhooks/${number}`;
      expect(await other.get(one)).toMatchObject(missing);
      expect(await other.get(`${one}/deliveries`)).toMatchObject(missing);
      expect(await other.post(one, { isEnabled: false })).toMatchObject(missing);
      for (const action of ["rotate-secret", "test", "delete"])
        expect(await other.post(`${one}/${action}`)).toMatchObject(missing);
    }
    expect((await owner.get("/v1/webhooks")).data).toEqual(before.data);
    expect(receivers.at(path)).toEqual([]);
    expect(await other.get("/v1/webhooks")).toMatchObject({ data: [] });
  });
});

describe("what an operator disabled", () => {
  it("its owner changes but does not enable", async () => {
    const owner = await newOwner();
    const { webhookId } = await create(owner, newPath());
    const id = Number(webhookId);
    const one = `/v1/webhooks/${webhookId}`;
    await owner.post(one, { isEnabled: false });
    await disableWebhook(storage(), { id }, "operator");
    const refused = { status: 403, code: "disabled_by_operator" };
    expect(await owner.post(one, { isEnabled: true, types: ["sale"] })).toMatchObject(refused);
    const state = { isEnabled: false, disabledBy: "operator", types: null };
    expect((await owner.get(one)).data).toMatchObject(state);
    const changed = await owner.post(one, { types: ["burn"] });
    expect(changed.data).toMatchObject({ ...state, types: ["burn"] });
    await enableWebhook(storage(), { id });
    expect((await owner.get(one)).data).toMatchObject({ isEnabled: true, disabledBy: null });
  });
});

describe("a test", () => {
  it("is signed, answered with what became of it, and changes nothing else", async () => {
    const owner = await newOwner();
    const path = newPath();
    const { webhookId, secret } = await create(owner, path);
    const one = `/v1/webhooks/${webhookId}`;
    const before = await owner.get(one);
    receivers.behave(path, () => 201);
    const taken = await owner.post(`${one}/test`);
    expect(taken).toMatchObject({
      status: 200,
      data: { type: "test", isTaken: true, status: 201, failure: null, attempt: 1 },
    });
    const [received] = receivers.at(path);
    if (received === undefined) throw new Error("nothing was sent");
    expectVerified(received, secret);
    expect((taken.data as { eventId: string }).eventId).toBe(received.id);
    expect(JSON.parse(received.body)).toMatchObject({ type: "test", data: { webhookId } });

    receivers.behave(path, () => 410);
    const refused = { isTaken: false, status: 410, failure: null };
    expect((await owner.post(`${one}/test`)).data).toMatchObject(refused);
    expect((await owner.get(one)).data).toEqual(before.data);
    const { data } = await owner.get(`${one}/deliveries`);
    expect(data).toMatchObject([refused, { isTaken: true, status: 201 }]);
  });

  it("tells why nobody answered, also of a webhook that is disabled", async () => {
    const owner = await newOwner();
    const closed = await openReceivers();
    await closed.close();
    const other = await openWebhookDesk(database.url, [closed.origin, receivers.origin]);
    const at = { ...callerWith(other, await keyOf(owner)), accountId: owner.accountId };
    const asked = { url: closed.origin, chainId };
    const { data } = await at.post("/v1/webhooks", asked);
    const one = `/v1/webhooks/${(data as Created).webhookId}`;
    await at.post(one, { isEnabled: false });
    expect((await at.post(`${one}/test`)).data).toMatchObject({
      ...{ isTaken: false, status: null },
      failure: expect.stringContaining("ECONNREFUSED"),
    });
    // A process without the exception does not send there.
    expect((await owner.post(`${one}/test`)).data).toMatchObject({
      ...{ isTaken: false, status: null, failure: "http: is not allowed" },
    });
    await other.close();
  });

  it("counts among a hundred an hour of what costs others work", async () => {
    const owner = await newOwner();
    const { webhookId } = await create(owner, newPath());
    const rotate = () => owner.post(`/v1/webhooks/${webhookId}/rotate-secret`);
    for (let made = 1; made < 100; made += 1) expect((await rotate()).status).toBe(201);
    const refused = await rotate();
    expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_000);
    for (const [path, body] of [
      ["/test", undefined],
      ["", { after: "0-0" }],
    ] as const)
      expect((await owner.post(`/v1/webhooks/${webhookId}${path}`, body)).status).toBe(429);
    const renamed = await owner.post(`/v1/webhooks/${webhookId}`, { types: ["sale"] });
    expect(renamed.status).toBe(200);
  });
});

async function keyOf({ accountId }: Owner): Promise<string> {
  return (await createPermanentKey(db, { name: "second", perMinute: 1_000_000, accountId })).key;
}

describe("from its creation on", () => {
  it("events that come are delivered and verified, logged in pages, and replayed", async () => {
    const owner = await newOwner();
    const path = newPath();
    await transferred(db, 3);
    const { webhookId, secret } = await create(owner, path);
    const one = `/v1/webhooks/${webhookId}`;
    const { notify } = deliver();
    await transferred(db, 7);
    notify();
    await receivers.until(() => receivers.at(path).length === 7);
    for (const received of receivers.at(path)) expectVerified(received, secret);
    const ids = receivers.at(path).map(({ id }) => id);
    const log = async () => (await owner.get(`${one}/deliveries?per_page=100`)).data as object[];
    await expect.poll(async () => (await log()).length).toBe(7);

    const first = await owner.get(`${one}/deliveries?per_page=4`);
    const { next } = first.meta as { next: string };
    const second = await owner.get(`${one}/deliveries?per_page=4&before=${next}`);
    expect(second.meta).toEqual({ per_page: 4, next: null });
    const logged = [...(first.data as object[]), ...(second.data as object[])];
    expect(logged).toMatchObject(
      ids.toReversed().map((eventId) => ({ eventId, type: "transfer", status: 200, attempt: 1 })),
    );

    await owner.post(one, { after: ids[4] });
    await receivers.until(() => receivers.at(path).length === 9);
    expect(receivers.at(path).map(({ id }) => id)).toEqual([...ids, ...ids.slice(5)]);

    const rotated = await owner.post(`${one}/rotate-secret`);
    const { secret: newSecret } = rotated.data as Created;
    await transferred(db, 1);
    notify();
    // What was under way by the last secret alone is sent again.
    const signedTwice = () =>
      receivers.at(path).find(({ headers }) => headers["webhook-signature"]?.includes(" "));
    await receivers.until(() => signedTwice() !== undefined);
    const last = signedTwice();
    if (last === undefined) throw new Error("nothing came");
    expectVerified(last, secret);
    expectVerified(last, newSecret);
  });

  it("it stops where it is disabled or deleted, and goes on where it was", async () => {
    const owner = await newOwner();
    const [kept, deleted] = [newPath(), newPath()];
    const { webhookId } = await create(owner, kept);
    const gone = await create(owner, deleted);
    const one = `/v1/webhooks/${webhookId}`;
    await owner.post(one, { isEnabled: false });
    await owner.post(`/v1/webhooks/${gone.webhookId}/delete`);
    const seen = newPath();
    await create(owner, seen);
    await transferred(db, 2);
    deliver();
    await receivers.until(() => receivers.at(seen).length === 2);
    expect([receivers.at(kept), receivers.at(deleted)]).toEqual([[], []]);
    await owner.post(one, { isEnabled: true });
    await receivers.until(() => receivers.at(kept).length === 2);
    expect((await owner.get(one)).data).toMatchObject({ isEnabled: true, failures: 0 });
  });
});

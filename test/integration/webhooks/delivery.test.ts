import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tellOfDisabledWebhooks } from "#api/accounts/disabled-webhooks.ts";
import type { Mail } from "#api/accounts/mail.ts";
import { setSuspended } from "#api/accounts/stored-accounts.ts";
import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  readTries,
  readWebhook,
  rotateSecret,
  updateWebhook,
} from "#api/webhooks/stored-webhooks.ts";
import { trimTries } from "#jobs/webhooks/record-tries.ts";
import { openSender } from "#jobs/webhooks/send-message.ts";
import { makeWebhookSecret } from "#jobs/webhooks/signature.ts";
import { parseEventId } from "#projections/activity/feed-events.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { makeCheckpoints, transferred } from "#test/integration/feed/feed-stage.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type Deliverer, makeAccount, makeWebhook, start, startDelivering } from "./delivering.ts";
import { openReceivers, type Receivers } from "./receivers.ts";
import { expectVerified } from "./verifying.ts";

const noon = new Date("2026-03-10T12:00:00.000Z");
const dayMs = 86_400_000;

let database: TestDatabase;
let db: Database;
let receivers: Receivers;
let deliverer: Deliverer | undefined;
let clock: Date | null = null;
beforeEach(async () => {
  database = await createDatabase();
  db = database.db;
  receivers = await openReceivers();
  clock = null;
  await makeCheckpoints(db);
});
afterEach(async () => {
  await deliverer?.stop();
  deliverer = undefined;
  await receivers.close();
  await database.drop();
});

const storage = () => ({ db, clock: () => clock });
const now = () => clock ?? new Date();

function deliver(timeoutMs = 15_000): Deliverer {
  const sending = { timeoutMs, allowedOrigins: [receivers.origin] };
  deliverer = startDelivering({ db, sending, now });
  return deliverer;
}

const idsAt = (path: string) => receivers.at(path).map(({ id }) => id);
const countAt = (path: string) => new Set(idsAt(path)).size;
const webhookAt = (path: string, more: object = {}) =>
  makeWebhook(db, { url: receivers.origin + path, ...more });

async function stored(id: number) {
  const webhook = await readWebhook(db, { id });
  if (isRejection(webhook)) throw new Error(webhook.message);
  return webhook;
}

describe("a process that is killed", () => {
  it("repeats at most the delivery that was under way, and leaves none out", async () => {
    const paths = ["/a", "/b", "/c"];
    for (const path of paths) await webhookAt(path);
    await transferred(db, 200);
    const kills = 3;
    for (let killed = 0; killed < kills; killed += 1) {
      const child = startProcess();
      const enough = countAt("/a") + 40;
      await receivers.until(() => countAt("/a") >= enough);
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    deliver();
    await receivers.until(() => paths.every((path) => countAt(path) === 200));
    for (const path of paths) {
      expect(idsAt(path).length - countAt(path)).toBeLessThanOrEqual(kills);
      expect(idsAt(path)).toEqual(idsAt(path).toSorted(byPlace));
    }
  });
});

function startProcess(): ChildProcess {
  const program = `${import.meta.dirname}/delivery-process.ts`;
  return spawn(process.execPath, [program, database.url, receivers.origin], { stdio: "ignore" });
}

function byPlace(one: string, other: string): number {
  const [a, b] = [parseEventId(one), parseEventId(other)];
  if (a === undefined || b === undefined) throw new Error("no id");
  return Number(a.position - b.position) || a.ordinal - b.ordinal;
}

describe("a slow receiver", () => {
  it("delays nobody else, also at the same host", async () => {
    receivers.behave("/slow", () => new Promise(() => {}));
    const slow = await webhookAt("/slow");
    await webhookAt("/fast");
    await transferred(db, 50);
    deliver();
    await receivers.until(() => countAt("/fast") === 50);
    expect(idsAt("/slow")).toHaveLength(1);
    expect(await stored(slow.id)).toMatchObject({ failures: 0, position: 0n });
  });

  it("is tried again after its time, and each try is logged with status and latency", async () => {
    let slow = 2;
    receivers.behave("/", () => {
      slow -= 1;
      return slow < 0 ? 200 : new Promise(() => {});
    });
    const { id } = await webhookAt("/");
    await transferred(db, 1);
    deliver(50);
    await expect.poll(() => readTries(db, id, { before: null, limit: 10 })).toHaveLength(3);
    expect(await readTries(db, id, { before: null, limit: 10 })).toMatchObject([
      { status: 200, failure: null, attempt: 3, type: "transfer", eventId: idsAt("/")[0] },
      { status: null, failure: "timeout", attempt: 2 },
      { status: null, failure: "timeout", attempt: 1, durationMs: expect.toSatisfy(atLeast(49)) },
    ]);
  });
});

const atLeast = (least: number) => (value: number) => value >= least;

describe("secrets", () => {
  it("both sign while one replaces the other, then the new one alone", async () => {
    clock = new Date();
    const { id, secret } = await webhookAt("/");
    const rotated = await rotateSecret(storage(), { id });
    if (isRejection(rotated)) throw new Error(rotated.message);
    await transferred(db, 1);
    const { notify } = deliver();
    await receivers.until(() => countAt("/") === 1);
    const [first] = receivers.at("/");
    if (first === undefined) throw new Error("nothing was delivered");
    expectVerified(first, secret);
    expectVerified(first, rotated.secret);

    clock = new Date(clock.getTime() + dayMs + 1_000);
    await transferred(db, 1);
    notify();
    await receivers.until(() => countAt("/") === 2);
    const signature = receivers.at("/")[1]?.headers["webhook-signature"];
    expect(signature?.split(" ")).toHaveLength(1);
    expect(() => expectVerified(first, makeWebhookSecret())).toThrow("No matching signature");
  });
});

describe("a replay", () => {
  it("sends again what comes after an event, from any of them, while it delivers", async () => {
    const { id } = await webhookAt("/");
    await transferred(db, 20);
    deliver();
    await receivers.until(() => countAt("/") === 20);
    const all = idsAt("/");
    const place = parseEventId(all[9] ?? "");
    if (place === undefined) throw new Error("no id");
    await updateWebhook(storage(), { id }, { place });
    await receivers.until(() => idsAt("/").length === 30);
    expect(idsAt("/").slice(20)).toEqual(all.slice(10));
    await updateWebhook(storage(), { id }, { place: start });
    await receivers.until(() => idsAt("/").length === 50);
    expect(idsAt("/").slice(30)).toEqual(all);
  });
});

describe("a webhook whose receiver fails", () => {
  it("is disabled after three days, its owner gets one mail, and it goes on where it was", async () => {
    clock = noon;
    receivers.behave("/", () => 500);
    const { id } = await webhookAt("/");
    await transferred(db, 2);
    deliver();
    await receivers.until(() => idsAt("/").length >= 3);
    clock = new Date(noon.getTime() + 3 * dayMs - 60_000);
    const tries = idsAt("/").length;
    await receivers.until(() => idsAt("/").length >= tries + 2);
    expect(await stored(id)).toMatchObject({ disabledAt: null, failingSince: noon });

    clock = new Date(noon.getTime() + 3 * dayMs);
    await expect.poll(async () => (await stored(id)).disabledBy).toBe("failures");
    expect(new Set(idsAt("/")).size).toBe(1);
    const mails = await told();
    expect(mails).toMatchObject([{ subject: "A webhook was disabled" }]);
    expect(mails[0]?.text).toContain("has not taken an event for three days");
    expect(await told()).toEqual([]);

    receivers.behave("/", () => 200);
    await enableWebhook(storage(), { id });
    await receivers.until(() => countAt("/") === 2);
    await expect.poll(async () => (await stored(id)).failures).toBe(0);
  });

  it("is disabled at once where it answers 410", async () => {
    receivers.behave("/", () => 410);
    const { id } = await webhookAt("/");
    await transferred(db, 2);
    deliver();
    await expect.poll(async () => (await stored(id)).disabledBy).toBe("gone");
    expect(idsAt("/")).toHaveLength(1);
    expect(await told()).toHaveLength(1);
  });
});

async function told(): Promise<Mail[]> {
  const mails: Mail[] = [];
  const mailer = {
    delivery: "mail" as const,
    send: (mail: Mail) => void mails.push(mail),
    close: async () => {},
  };
  await tellOfDisabledWebhooks({ ...storage(), mailer, baseUrl: "https://api.example.test" });
  return mails;
}

describe("nothing is sent", () => {
  it("of a webhook that is disabled or deleted, or whose account is suspended", async () => {
    const accountId = await makeAccount(db);
    await setSuspended(db, accountId, true);
    const [suspended, disabled, deleted] = [
      await webhookAt("/suspended", { accountId }),
      await webhookAt("/disabled"),
      await webhookAt("/deleted"),
    ];
    await disableWebhook(storage(), disabled, "owner");
    await deleteWebhook(db, deleted);
    await webhookAt("/");
    await transferred(db, 5);
    deliver();
    await receivers.until(() => countAt("/") === 5);
    for (const path of ["/suspended", "/disabled", "/deleted"]) expect(idsAt(path)).toEqual([]);
    await setSuspended(db, accountId, false);
    await receivers.until(() => countAt("/suspended") === 5);
    expect(await stored(suspended.id)).toMatchObject({ failures: 0 });
    expect(await told()).toEqual([]);
  });

  it("once a webhook was deleted while a delivery was under way, and others go on", async () => {
    let answer = () => {};
    receivers.behave("/", () => new Promise((settle) => (answer = () => settle(200))));
    const { id } = await webhookAt("/");
    await webhookAt("/other");
    await transferred(db, 3);
    deliver();
    await receivers.until(() => countAt("/other") === 3);
    await expect.poll(() => idsAt("/").length).toBe(1);
    await deleteWebhook(db, { id });
    answer();
    await transferred(db, 1);
    await receivers.until(() => countAt("/other") === 4);
    expect(idsAt("/")).toHaveLength(1);
  });
});

describe("addresses that are not public", () => {
  const message = { id: "1-1", body: Buffer.from("{}") };
  const send = async (url: string, options = {}) => {
    const sender = openSender(options);
    const { signal } = new AbortController();
    const result = await sender.send({ url, secrets: [makeWebhookSecret()] }, message, signal);
    await sender.close();
    return result;
  };

  it.each([
    ["https://127.0.0.1/", "127.0.0.1 is not on the public internet"],
    ["https://[::1]/", "::1 is not on the public internet"],
    ["https://169.254.169.254/latest", "169.254.169.254 is not on the public internet"],
    ["https://0x7f000001/", "127.0.0.1 is not on the public internet"],
    ["http://example.com/", "http: is not allowed"],
    ["https://user:pass@example.com/", "credentials in a URL are not allowed"],
    ["https://example.com:22/", "port 22 is not allowed"],
  ])("%s is not asked", async (url, failure) => {
    expect(await send(url)).toMatchObject({ status: null, failure });
  });

  it("are not asked under a name that the DNS gives them, whichever of several", async () => {
    const resolve = async () => [
      { address: "93.184.215.14", family: 4 },
      { address: "10.0.0.7", family: 4 },
    ];
    expect(await send("https://hooks.example.test/", { resolve })).toMatchObject({
      status: null,
      failure: "hooks.example.test is not on the public internet",
    });
  });

  it("are not asked where a receiver sends on to them: a redirect is a failure", async () => {
    receivers.behave("/from", (_, response) => {
      response.writeHead(307, { location: `${receivers.origin}/secret` }).end();
      return null;
    });
    const result = await send(`${receivers.origin}/from`, { allowedOrigins: [receivers.origin] });
    expect(result).toMatchObject({ status: 307, failure: null });
    expect(idsAt("/secret")).toEqual([]);
  });
});

it("the log keeps a thousand tries of each webhook for seven days", async () => {
  const { id } = await webhookAt("/");
  await sql`
    insert into access.webhook_delivery (webhook_id, event_id, type, at, attempt, duration_ms)
    select ${id}, n || '-1', 'sale', now() - make_interval(mins => 8000 - n), 1, 1
    from generate_series(1, 8000) n`.execute(db);
  await trimTries(db, new Date());
  const { rows } = await sql`
    select count(*)::int as count, min(id) as first from access.webhook_delivery`.execute(db);
  expect(rows).toEqual([{ count: 1000, first: 7001n }]);
});

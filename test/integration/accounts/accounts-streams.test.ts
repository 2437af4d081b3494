import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setSuspended } from "#api/accounts/stored-accounts.ts";
import { hashKey } from "#api/keys/key-text.ts";
import { createInstantKey } from "#api/keys/stored-keys.ts";
import { until } from "#test/support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import {
  type Browser,
  type Desk,
  keyIdOf,
  openDesk,
  secretIn,
  signUp,
} from "./accounts-fixture.ts";

let database: TestDatabase;
let one: Desk;
let other: Desk;

beforeAll(async () => {
  database = await createDatabase();
  const options = { databaseUrl: database.url };
  [one, other] = await Promise.all([openDesk(options), openDesk({ ...options, hasSite: true })]);
});
afterAll(async () => {
  await Promise.all([one?.close(), other?.close()]);
  await database?.drop();
});

type Client = Browser & { email: string; clientKey: string };

async function newClient(): Promise<Client> {
  const browser = await signUp(one);
  const clientKey = secretIn(await browser.post("/developers/client-key"), "client");
  return Object.assign(browser, { clientKey });
}

async function tokenOf({ email, clientKey }: Client): Promise<string> {
  const issued = await one.tokens.issue({ email, clientKey }, "10.3.0.1");
  if ("rejected" in issued) throw new Error(issued.message);
  return issued.token;
}

type StreamRequest = { path: string; headers?: Record<string, string>; at?: Desk };

/** Opens a stream; `ended` resolves when the server ends it. */
async function openStream({ path, headers = {}, at = other }: StreamRequest) {
  const leaving = new AbortController();
  const response = await fetch(at.url + path, {
    headers: { accept: "text/event-stream", "x-forwarded-for": "10.4.0.1", ...headers },
    signal: leaving.signal,
  });
  const ended = response.text().then(
    () => "ended",
    () => "left",
  );
  return {
    status: response.status,
    headers: response.headers,
    ended,
    leave: () => leaving.abort(),
  };
}

const streamOfToken = (token: string, at = other) => {
  const headers = { authorization: `Bearer ${token}` };
  return openStream({ path: "/apechain/api/activity/stream", headers, at });
};

/** Streams of keys, and of the pages without one. */
const events = "/v1/events?chainId=33139";
const streamOfKey = (key: string, address = "10.4.0.1") =>
  openStream({ path: events, headers: { "x-api-key": key, "x-forwarded-for": address } });
const streamOfPage = (address: string) =>
  openStream({ path: "/live?chainId=33139", headers: { "x-forwarded-for": address } });

const keyOf = async (browser: Browser): Promise<string> =>
  secretIn(await browser.post("/developers/keys", { name: "bot" }), "live");

/** Opens a stream as soon as there is room for it. */
const whenThereIsRoom = (open: () => ReturnType<typeof openStream>) =>
  until("room for another stream", async () => {
    const stream = await open();
    return stream.status === 200 && stream;
  });

const openAt = (desk: Desk) => desk.streams.figures().open;

describe("the streams of an account", () => {
  it("are two at a time where that is the setting, over its tokens; a closed one makes room", async () => {
    const client = await newClient();
    const tokens = [await tokenOf(client), await tokenOf(client)];
    const first = await streamOfToken(tokens[0] ?? "");
    const second = await streamOfToken(tokens[1] ?? "");
    const third = await streamOfToken(tokens[0] ?? "");
    const stranger = await streamOfToken(await tokenOf(await newClient()));
    first.leave();
    const again = await whenThereIsRoom(() => streamOfToken(tokens[1] ?? ""));

    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
    expect(third.headers.get("retry-after")).toBe("60");
    expect(stranger.status).toBe(200);
    for (const stream of [second, again, stranger]) stream.leave();
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    [
      "its token is revoked",
      async (client) => {
        const { text } = await client.get("/developers");
        const id = /\/developers\/tokens\/(\d+)\/revoke/.exec(text)?.[1];
        await client.post(`/developers/tokens/${id}/revoke`);
      },
    ],
    ["the client key is revoked", (client) => client.post("/developers/client-key/revoke")],
    [
      "an operator suspends the account",
      async ({ email }) => {
        const { rows } = await sql<{ id: number }>`
          select id from access.account where email = ${email}`.execute(database.db);
        await setSuspended(database.db, rows[0]?.id ?? 0, true);
      },
    ],
    [
      "the account is deleted",
      async (client) => await client.post("/developers/account/delete", { name: client.email }),
    ],
  ])("end in another process when %s, and no others", async (_what, end) => {
    const client = await newClient();
    const stream = await streamOfToken(await tokenOf(client));
    const stranger = await streamOfToken(await tokenOf(await newClient()));
    const before = other.streams.figures().ended;

    const startedAt = performance.now();
    await end(client);

    expect(await stream.ended).toBe("ended");
    // By a notification: the next read without one is five seconds away. Generous for a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    expect(other.streams.figures().ended).toBe(before + 1);
    expect(openAt(other)).toBeGreaterThanOrEqual(1);
    stranger.leave();
    expect(await stranger.ended).toBe("left");
  });

  it("end when their token expires, without a notification", async () => {
    const client = await newClient();
    const stream = await streamOfToken(await tokenOf(client));
    await sql`
      update access.bearer_token set expires_at = now()
      where account_id = (select id from access.account where email = ${client.email})`.execute(
      database.db,
    );
    expect(await stream.ended).toBe("ended");
  });
});

describe("the streams of keys", () => {
  it("count for their account, with those of its tokens", async () => {
    const client = await newClient();
    const ofToken = await streamOfToken(await tokenOf(client));
    const key = await keyOf(client);
    const ofKey = await streamOfKey(key);
    const another = await streamOfKey(await keyOf(client), "10.4.0.2");
    ofToken.leave();
    const again = await whenThereIsRoom(() => streamOfKey(key));

    expect([ofToken.status, ofKey.status, another.status]).toEqual([200, 200, 429]);
    for (const stream of [ofKey, again]) stream.leave();
  });

  it("count for their address without an account, with those of pages", async () => {
    const address = "10.5.0.1";
    const instant: string[] = [];
    for (let made = 0; made < 2; made += 1) {
      const created = await createInstantKey(database.db, address, null);
      if ("key" in created) instant.push(created.key);
    }
    const streams = [
      await streamOfKey(instant[0] ?? "", address),
      await streamOfKey(instant[1] ?? "", address),
      await streamOfPage(address),
      await streamOfPage(address),
      await streamOfPage("10.5.0.2"),
    ];

    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 429, 200]);
    for (const stream of streams) stream.leave();
  });

  it.each<[string, (client: Client, key: string) => Promise<unknown>]>([
    [
      "it is revoked",
      async (client, key) => {
        const id = keyIdOf(await client.get("/developers"), key);
        await client.post(`/developers/keys/${id}/revoke`);
      },
    ],
    [
      "it expires",
      async (_client, key) =>
        await sql`update access.key set expires_at = now() where hash = ${hashKey(key)}`.execute(
          database.db,
        ),
    ],
    [
      "its account is deleted",
      async (client) => await client.post("/developers/account/delete", { name: client.email }),
    ],
  ])("end in another process when %s, and no others", async (_what, end) => {
    const client = await newClient();
    const key = await keyOf(client);
    const stream = await streamOfKey(key);
    const stranger = await streamOfKey(await keyOf(await newClient()));

    await end(client, key);

    expect(await stream.ended).toBe("ended");
    stranger.leave();
    expect(await stranger.ended).toBe("left");
    expect((await streamOfKey(key)).status).toBe(401);
  });
});

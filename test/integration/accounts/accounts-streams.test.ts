import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setSuspended } from "../../../api/serve/accounts/stored-accounts.ts";
import { until } from "../../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../../support/database/postgres.ts";
import { type Browser, type Desk, openDesk, secretIn, signUp } from "./accounts-fixture.ts";

let database: TestDatabase;
let one: Desk;
let other: Desk;

beforeAll(async () => {
  database = await createDatabase();
  const options = { databaseUrl: database.url };
  [one, other] = await Promise.all([openDesk(options), openDesk(options)]);
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

/** Opens a stream; `ended` resolves when the server ends it. */
async function openStream(token: string, at = other) {
  const leaving = new AbortController();
  const response = await fetch(`${at.url}/apechain/api/activity/stream`, {
    headers: { authorization: `Bearer ${token}` },
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

const openAt = (desk: Desk) => desk.streams.figures().open;

describe("the streams of an account", () => {
  it("are two at a time where that is the setting, over its tokens; a closed one makes room", async () => {
    const client = await newClient();
    const tokens = [await tokenOf(client), await tokenOf(client)];
    const [first, second] = [await openStream(tokens[0] ?? ""), await openStream(tokens[1] ?? "")];
    const third = await openStream(tokens[0] ?? "");
    const stranger = await openStream(await tokenOf(await newClient()));
    first.leave();
    const again = await until("room for another", async () => {
      const stream = await openStream(tokens[1] ?? "");
      return stream.status === 200 && stream;
    });

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
      async (client) => await client.post("/developers/account/delete", { email: client.email }),
    ],
  ])("end in another process when %s, and no others", async (_what, end) => {
    const client = await newClient();
    const stream = await openStream(await tokenOf(client));
    const stranger = await openStream(await tokenOf(await newClient()));
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
    const stream = await openStream(await tokenOf(client));
    await sql`
      update access.bearer_token set expires_at = now()
      where account_id = (select id from access.account where email = ${client.email})`.execute(
      database.db,
    );
    expect(await stream.ended).toBe("ended");
  });
});

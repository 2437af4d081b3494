import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { type OwnServer, openOwnServer } from "../support/database/own-server.ts";
import { until } from "../support/database/pipeline.ts";
import { base } from "../support/http/nft-data-fixture.ts";
import { accountRequests, addressOf, v1Requests } from "../support/http/operation-requests.ts";
import { openServedMarket, type ServedMarket } from "../support/http/served-market.ts";
import { sitePagesOf } from "../support/http/site-pages.ts";

type Answered = { status: number; retryAfter: string | null };
/** A request, by its method and path. */
type Requests = ReadonlyMap<string, () => Promise<Answered>>;

let server: OwnServer;
let market: ServedMarket;
let requests: Requests;
beforeAll(async () => {
  server = await openOwnServer();
  market = await openServedMarket({ hasPages: true, server: server.url });
  requests = new Map([...apiRequests(market), ...pageRequests(market)]);
});
afterAll(async () => {
  await market?.close();
  await server?.close();
});

/** Every operation of both APIs; each answer is validated against its document. */
function* apiRequests(served: ServedMarket): Generator<[string, () => Promise<Answered>]> {
  const { v1, account, bearer } = served;
  const apis = [
    { api: v1, prefix: "", headers: {}, of: v1Requests(served) },
    { api: account, prefix: base, headers: bearerOf(bearer), of: accountRequests(served) },
  ];
  for (const { api, prefix, headers, of } of apis) {
    for (const [name, request] of Object.entries(of)) {
      const [method = "", template = ""] = name.split(" ");
      const path = prefix + addressOf(template, request);
      yield [
        `${prefix} ${name}`,
        async () => {
          const answer = await (method === "get"
            ? api.get(path, headers)
            : api.post(path, request.body ?? {}, headers));
          return { status: answer.status, retryAfter: answer.headers.get("retry-after") };
        },
      ];
    }
  }
}

function* pageRequests(served: ServedMarket): Generator<[string, () => Promise<Answered>]> {
  for (const path of [...Object.values(sitePagesOf(served)), "/readyz", "/metrics"]) {
    yield [
      path,
      async () => {
        const { status, headers, ...response } = await fetch(served.v1.url + path).then(
          async (one) => ({ status: one.status, headers: one.headers, text: await one.text() }),
        );
        expect(response.text).not.toBe("");
        return { status, retryAfter: headers.get("retry-after") };
      },
    ];
  }
}

const bearerOf = (bearer: string) => ({ authorization: `Bearer ${bearer}` });

/** Sends every request again and again; each answer is none above 499 but 503 with `Retry-After`. */
function sendAll() {
  const counts = new Map([...requests.keys()].map((name) => [name, 0]));
  const refused = new Set<string>();
  let isStopped = false;
  const names = [...requests.keys()];
  const work = async (first: number) => {
    for (let turn = first; !isStopped; turn += 1) {
      const name = names[turn % names.length] ?? "";
      const { status, retryAfter } = (await requests.get(name)?.()) ?? { status: 0 };
      if (status >= 500) expect([name, status, Number(retryAfter) > 0]).toEqual([name, 503, true]);
      if (status === 503) refused.add(name);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  };
  const workers = Promise.all(
    [0, 1, 2, 3].map((one) => work(Math.floor((one * names.length) / 4))),
  );
  workers.catch(() => {});
  return {
    refused,
    /** Settles once each request that begins from now on was answered that often. */
    async answered(times: number) {
      const before = new Map(counts);
      const isDone = async () =>
        names.every((name) => (counts.get(name) ?? 0) >= (before.get(name) ?? 0) + times);
      await Promise.race([workers, until("answers of every operation", isDone)]);
    },
    async stop() {
      isStopped = true;
      await workers;
    },
  };
}

async function asAdministrator<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
  const { url } = server;
  const db = openDatabase({ url, applicationName: "administrator", onIdleError: () => {} });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

const cutConnections = (db: Database) =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(db);

async function allowConnections(isAllowed: boolean): Promise<void> {
  await asAdministrator(async (db) => {
    const { rows } = await sql<{ name: string }>`
      select datname as name from pg_database where datname like 'test%'`.execute(db);
    for (const { name } of rows) {
      await sql`alter database ${sql.id(name)} with allow_connections ${sql.raw(String(isAllowed))}`.execute(
        db,
      );
    }
    await cutConnections(db);
  });
}

type Sending = ReturnType<typeof sendAll>;

const outages: Record<string, (sending: Sending) => Promise<void>> = {
  async "a server that stops and starts"(sending) {
    await server.stop();
    await sending.answered(2);
    await server.start();
  },
  async "a server that is killed and recovers"(sending) {
    await server.kill();
    await sending.answered(1);
    await server.start();
  },
  async "connections that are cut in the middle of statements"(sending) {
    await asAdministrator(async (db) => {
      for (let round = 0; round < 50; round += 1) await cutConnections(db);
      await sending.answered(1);
    });
  },
  async "a database that accepts no connections"(sending) {
    await allowConnections(false);
    await sending.answered(1);
    await allowConnections(true);
  },
};

it.each(Object.entries(outages))(
  "%s: no fault but 503 with Retry-After, and every operation recovers by itself",
  async (_name, outage) => {
    const statusOf = async (name: string) => (await requests.get(name)?.())?.status ?? 0;
    const reads = [...requests.keys()].filter((name) => !name.includes("post "));
    const before = new Map<string, number>();
    for (const name of reads) before.set(name, await statusOf(name));
    const sending = sendAll();
    await sending.answered(1);
    await outage(sending);
    await sending.answered(1);
    await sending.stop();

    expect([...sending.refused].some((name) => name.includes(" post "))).toBe(true);
    expect([...sending.refused].some((name) => name.includes(" get "))).toBe(true);
    await until("the same answers", async () => {
      for (const name of reads) if ((await statusOf(name)) !== before.get(name)) return false;
      return true;
    });
  },
);

import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "#api/app.ts";
import { type OpenedReads, openReads } from "#ops/processes/roles/api.ts";
import { roleDatabase } from "#ops/processes/roles/role.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { type OwnServer, openOwnServer } from "#test/support/database/own-server.ts";
import { hasPgBouncer, openPgBouncer, type PgBouncer } from "#test/support/database/pgbouncer.ts";
import { openStandby } from "#test/support/database/standby.ts";
import { base } from "#test/support/http/nft-data-fixture.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { accountRequests, addressOf, v1Requests } from "#test/support/http/operation-requests.ts";
import { openServedMarket, type ServedMarket } from "#test/support/http/served-market.ts";
import { sitePagesOf } from "#test/support/http/site-pages.ts";

const logger = pino({ level: "silent" });
const closing: { close(): Promise<unknown> }[] = [];
let primary: OwnServer;
let market: ServedMarket;
let direct: string;

beforeAll(async () => {
  primary = await openOwnServer({ replicates: true });
  market = await openServedMarket({ hasPages: true, server: primary.url });
  direct = market.book.databaseUrl;
});
afterAll(async () => {
  for (const one of closing.toReversed()) await one.close();
  await market?.close();
  await primary?.close();
});

type Database = Parameters<typeof openReads>[0]["database"];

/** An API over the same data by other connections, at the same moment. */
async function serveOver(database: Database): Promise<ApiClient & { reads: OpenedReads }> {
  const { options } = market.book;
  const written = options.context.market.writtenPosition;
  const reads = openReads({ database, logger, written, onWait: () => {} });
  const now = () => new Date("2030-01-01T00:00:00Z");
  const app = createApp({
    ...options,
    context: { ...options.context, now },
    reads: reads.reads,
    logger,
  });
  const api = await serve(app);
  closing.push(reads, api);
  return { ...api, reads };
}

const settings = { replicas: [], maxReplicaLagSeconds: 3_600, poolerUrl: null };

async function openBouncer(server: OwnServer, mode: "session" | "transaction"): Promise<PgBouncer> {
  // Fewer connections than the API has: each serves several of them in turns.
  const bouncer = await openPgBouncer(server.url, {
    mode,
    connections: mode === "session" ? 40 : 3,
  });
  closing.push(bouncer);
  return bouncer;
}

const topologies: Record<string, () => Promise<Database>> = {
  async "a primary with a standby"() {
    const standby = await followPrimary();
    return withReplica({ url: onServer(standby), isPooled: false });
  },
  async "PgBouncer in transaction mode"() {
    const poolerUrl = (await openBouncer(primary, "transaction")).through(direct);
    return roleDatabase({ ...settings, poolerUrl }, direct);
  },
  async "PgBouncer in session mode"() {
    const poolerUrl = (await openBouncer(primary, "session")).through(direct);
    return roleDatabase({ ...settings, poolerUrl }, direct);
  },
  async "a standby behind PgBouncer in transaction mode"() {
    const standby = await followPrimary();
    const bouncer = await openBouncer(standby, "transaction");
    return withReplica({ url: bouncer.through(onServer(standby)), isPooled: true });
  },
};

async function followPrimary(): Promise<OwnServer> {
  const standby = await openStandby(primary);
  closing.push(standby);
  return standby;
}

const onServer = ({ url }: OwnServer) => {
  const address = new URL(url);
  address.pathname = new URL(direct).pathname;
  return address.href;
};

const withReplica = (address: { url: string; isPooled: boolean }) => ({
  ...roleDatabase(settings, direct),
  replicas: [{ ...address, weight: 1 }],
});

/** Addresses of every read of both APIs and of every page, with the headers they need. */
function allReads(): Map<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>();
  const bearer = { authorization: `Bearer ${market.bearer}` };
  const apis = [
    { prefix: "", headers: { "x-api-key": market.key }, of: v1Requests(market) },
    { prefix: base, headers: bearer, of: accountRequests(market) },
  ];
  for (const { prefix, headers, of } of apis) {
    for (const [name, request] of Object.entries(of)) {
      const [method, template = ""] = name.split(" ");
      if (method === "get" && !notOfProjections.test(template)) {
        found.set(prefix + addressOf(template, request), headers);
      }
    }
  }
  for (const path of Object.values(sitePagesOf(market))) found.set(path, {});
  return found;
}

/** Answers about the process, about the chain now, and about the caller's own requests and webhooks. */
const notOfProjections = /status|\/key\/requests|requirements|params|webhooks/;

type Answer = { status: number; position: string | null; etag: string | null; body: string };

async function answersOf(api: ApiClient, minPosition: bigint): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (const [path, headers] of allReads()) {
    const response = await fetch(api.url + path, {
      headers: { ...headers, "x-min-position": `${minPosition}` },
    });
    const body = await response.text();
    const [position, etag] = ["x-position", "etag"].map((name) => response.headers.get(name));
    answers.set(path, {
      ...{ status: response.status, position: position ?? null, etag: etag ?? null },
      // Each request has an id of its own, which refusals name.
      body: body.replace(/"requestId":"[^"]+"/, ""),
    });
  }
  return answers;
}

const possible = Object.entries(topologies).filter(
  ([name]) => hasPgBouncer || !name.includes("PgBouncer"),
);

describe.each(possible)("%s", (_name, open) => {
  it("gives every answer of one server, byte for byte, at the same position", async () => {
    const head = await readLogHead(market.book.db);
    const single = await serveOver(roleDatabase(settings, direct));
    const expected = await answersOf(single, head);
    const statuses = [...expected.values()].map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(60);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);

    const other = await serveOver(await open());
    expect(await answersOf(other, head)).toEqual(expected);
    expect(other.reads.replicaStates().filter((one) => !one.isUsed)).toEqual([]);
  });
});

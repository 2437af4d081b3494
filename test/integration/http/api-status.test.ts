import { sql } from "kysely";
import { pino } from "pino";
import type { Registry } from "prom-client";
import { keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { openMetrics } from "#api/http/metrics.ts";
import { listen } from "#api/http/server.ts";
import { createOperatorApp } from "#api/status/operator-app.ts";
import { openStatusReader, type StatusReader } from "#api/status/status-reader.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { readConfig } from "#ops/config/read-config.ts";
import { readServiceProgress } from "#ops/reports/read-status.ts";
import { appendObservations } from "#projections/log/append.ts";
import { storeNodeFaults } from "#projections/log/chain-state.ts";
import { openDatabase } from "#projections/log/database.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { type RpcStandIn, startRpc, timestampOf } from "#test/support/chain/rpc-stand-in.ts";
import { addressOf, appendEvents, block } from "#test/support/database/given.ts";
import { createDatabase, type TestDatabase } from "#test/support/database/postgres.ts";
import { type ApiClient, serve } from "#test/support/http/openapi.ts";
import { ticked } from "#test/support/orders/order-facts.ts";
import { openTestMarket } from "#test/support/orders/test-market.ts";

let database: TestDatabase;
let ethereum: RpcStandIn;
let apechain: RpcStandIn;
let api: ApiClient;
/** Milliseconds. */
let clock = Date.parse("2026-01-01T00:00:00Z");
const lines: string[] = [];

const Readiness = z.object({
  failing: z
    .array(z.object({ part: z.string(), message: z.string(), behind: z.unknown().optional() }))
    .optional(),
});

beforeAll(async () => {
  database = await createDatabase();
  await sql`create schema idx`.execute(database.db);
  await sql`
    create table idx._ponder_checkpoint (
      chain_name text primary key, chain_id bigint not null, safe_checkpoint varchar(75) not null,
      latest_checkpoint varchar(75) not null, finalized_checkpoint varchar(75) not null)`.execute(
    database.db,
  );
  await sql`
    create table idx.event (
      id text primary key, chain_id integer, source text, name text, args json, block_number numeric(78,0), block_hash text, log_index integer)
  `.execute(database.db);
  await appendEvents(database.db, [
    {
      kind: "erc721_transfer",
      block: block(1, 100),
      logIndex: 0,
      contract: addressOf(1),
      tokenId: 1n,
    },
  ]);
});

afterAll(async () => {
  await database?.drop();
});

/** Everything current at block 100, seen by a service that just started. */
beforeEach(async () => {
  const { db } = database;
  ethereum = await startRpc(1, 100);
  apechain = await startRpc(33139, 100);
  await sql`truncate ops.indexer, ops.source, ops.recorder, ops.lease, idx._ponder_checkpoint, idx.event, engine.checkpoint`.execute(
    db,
  );
  await sql`insert into ops.indexer values (1, 'idx', now()), (33139, 'idx', now())`.execute(db);
  await indexed(1, 100);
  await indexed(33139, 100);
  await sql`
    insert into engine.checkpoint (projection, version, parameters, position)
    select ${schemaOf("sales")}, 3, '', position from log.head`.execute(db);
  api = await serveStatus(database.url);
  lines.length = 0;
  otherBranch = undefined;
  return async () => {
    await api.close();
    await ethereum.close();
    await apechain.close();
  };
});

/** Far above what a busy machine needs, since only one test waits for it. */
const rpcTimeoutMs = 3_000;

type Serving = { ethereumUrls?: string[]; operatorMetrics?: Registry };

/** The public API beside an operator's listener, which closes with it. */
async function openOperators(ethereumUrls: string[]): Promise<{ url: string }> {
  const operatorMetrics = openMetrics();
  const { readStatus, ...client } = await serveStatus(database.url, {
    ethereumUrls,
    operatorMetrics,
  });
  const logger = pino({ level: "silent" });
  const app = createOperatorApp({ metrics: operatorMetrics, readStatus, logger });
  const listening = await listen(app, "127.0.0.1", 0);
  const close = async () => void (await Promise.all([client.close(), listening.close()]));
  api = { ...client, close };
  return { url: `http://127.0.0.1:${listening.port}` };
}

async function serveStatus(
  url: string,
  { ethereumUrls = [ethereum.url], operatorMetrics }: Serving = {},
): Promise<ApiClient & { readStatus: StatusReader }> {
  const db = openDatabase({ url, applicationName: "api", onIdleError: () => {} });
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const urlsOf = (rpc: RpcStandIn) => (rpc === ethereum ? ethereumUrls : [rpc.url]);
  const reading = { timeoutMs: rpcTimeoutMs, maxAgeMs: 0, staleBlocks: 50 };
  const readStatus = openStatusReader({
    db,
    chains: [ethereum, apechain].map((rpc) => ({
      chainId: rpc.chainId,
      readHead: openHeadReader({ chainId: rpc.chainId, ...reading, rpcUrls: urlsOf(rpc) }),
      readHash: async (number: number) => hashOnChain(rpc.chainId, number),
    })),
    projections: ["sales"],
    now: () => new Date(clock),
    logger,
    lateSeconds: { indexer: 60, recorder: 15, projection: 15, lease: 10, branch: 20 },
    maxAgeMs: 0,
  });
  const context = {
    db,
    siteUrl: "https://site.example.test",
    chains: [1, 33139] as const,
    readStatus,
    market: openTestMarket(db),
    now: () => new Date(clock),
  };
  const baseUrl = "https://api.example.test";
  const client = await serve(createApp({ context, baseUrl, logger, operatorMetrics }));
  return {
    ...client,
    readStatus,
    async close() {
      await client.close();
      await db.destroy();
    },
  };
}

/** What the chains say of a height; the log's own branch while nothing else is said. */
let otherBranch: string | undefined;
const hashOnChain = (chainId: number, number: number) => block(chainId, number, otherBranch).hash;

async function indexed(chainId: number, number: number): Promise<void> {
  const digits = (value: number, length: number) => String(value).padStart(length, "0");
  const checkpoint =
    digits(timestampOf(number), 10) + digits(chainId, 16) + digits(number, 16) + "9".repeat(33);
  await sql`
    insert into idx._ponder_checkpoint values (${`chain${chainId}`}, ${chainId}, ${checkpoint}, ${checkpoint}, ${checkpoint})
    on conflict (chain_name) do update set latest_checkpoint = excluded.latest_checkpoint`.execute(
    database.db,
  );
}

/** Of an added source, with the tables of the first one. */
async function addIndexer(name: string): Promise<void> {
  await sql`
    insert into ops.source (chain_id, source, indexer, event_sources, added_by)
    values (33139, ${name}, ${name}, '{}', 'operator')`.execute(database.db);
  await sql`
    insert into ops.indexer (chain_id, name, ponder_schema, started_at) values (33139, ${name}, 'idx', now())`.execute(
    database.db,
  );
}

async function readiness() {
  const response = await fetch(`${api.url}/readyz`);
  const text = await response.text();
  expect(text).not.toContain("secret");
  return { status: response.status, failing: Readiness.parse(JSON.parse(text)).failing ?? [] };
}

async function failingParts() {
  const { status, failing } = await readiness();
  expect(status).toBe(failing.length === 0 ? 200 : 503);
  return failing.map(({ part }) => part);
}

const pass = (seconds: number) => {
  clock += seconds * 1000;
};

describe("/readyz", () => {
  it("is green while all is current, also when the chains stand still for hours", async () => {
    expect(await failingParts()).toEqual([]);
    pass(7200);
    expect(await failingParts()).toEqual([]);
    ethereum.head = 101;
    expect(await failingParts()).toEqual([]);
    await indexed(1, 101);
    pass(7200);
    expect(await failingParts()).toEqual([]);
  });

  it("names an indexer that does not follow a moving head, and how far it is behind", async () => {
    expect(await failingParts()).toEqual([]);
    for (ethereum.head = 101; ethereum.head < 107; ethereum.head += 1) {
      expect(await failingParts()).toEqual([]);
      pass(11);
    }
    const { failing } = await readiness();
    expect(failing).toMatchObject([
      { part: "chain 1 indexer", behind: { blocks: 7, seconds: 66 } },
    ]);
    await indexed(1, 107);
    expect(await failingParts()).toEqual([]);
  });

  it("waits until an indexer that is far behind has caught up for the first time", async () => {
    apechain.head = 5000;
    expect(await failingParts()).toEqual(["chain 33139 indexer"]);
    await indexed(33139, 4999);
    expect(await failingParts()).toEqual([]);
  });

  it("stays green while the indexer of an added source catches up, and names what remains", async () => {
    const { db } = database;
    await addIndexer("bazaar");
    const named = async () => {
      const response = await fetch(`${api.url}/readyz`);
      const { data } = (await response.json()) as { data?: object };
      return { failing: await failingParts(), ...data };
    };
    const part = "chain 33139 indexer bazaar";
    expect(await named()).toMatchObject({
      failing: [],
      warnings: [{ part, kind: "catching_up", message: "is starting", remaining: null }],
    });
    await sql`
      insert into ops.recorder (chain_id, ponder_schema, settled_id, indexer)
      select 33139, 'idx', overlay(latest_checkpoint placing '040' from 40 for 3), 'bazaar'
      from idx._ponder_checkpoint where chain_id = 33139`.execute(db);
    await sql`update ops.indexer set blocks_per_second = 2.5 where name = 'bazaar'`.execute(db);
    expect(await named()).toMatchObject({
      failing: [],
      warnings: [{ part, kind: "catching_up", remaining: { blocks: 60, seconds: 24 } }],
    });
    const { body } = await api.get("/v1/status");
    expect(body).toMatchObject({
      data: {
        chains: [
          { chainId: 1, indexers: [{ indexer: "core", state: "following" }] },
          {
            chainId: 33139,
            indexers: [
              { indexer: "core", state: "following", indexed: 100 },
              {
                ...{ indexer: "bazaar", exchanges: ["bazaar"], collections: 0 },
                ...{ state: "catching_up", remainingBlocks: 60, remainingSeconds: 24 },
              },
            ],
          },
        ],
      },
    });
  });

  it("names it as failing once it has caught up and stands still", async () => {
    const { db } = database;
    await addIndexer("bazaar");
    await sql`update ops.indexer set caught_up_at = now() where name = 'bazaar'`.execute(db);
    expect(await failingParts()).toEqual([]);
    apechain.head = 110;
    expect(await failingParts()).toEqual([]);
    pass(61);
    expect(await failingParts()).toEqual(["chain 33139 indexer", "chain 33139 indexer bazaar"]);
  });

  it("names an indexer that has not begun", async () => {
    await sql`delete from ops.indexer where chain_id = 1`.execute(database.db);
    expect(await failingParts()).toEqual(["chain 1 indexer"]);
  });

  it.each([
    ["on the wrong chain", () => Object.assign(ethereum, { chainId: 5 }), "serves chain 5, not 1"],
    [
      "slow",
      () => Object.assign(ethereum, { mood: "silent" }),
      `did not answer within ${rpcTimeoutMs} ms`,
    ],
    ["broken", () => Object.assign(ethereum, { mood: "broken" }), "answered HTTP 500"],
    ["down", () => ethereum.close(), "is unreachable"],
  ])(
    "names an RPC that is %s, never its key; the other chain stays green",
    async (_how, spoil, words) => {
      expect(await failingParts()).toEqual([]);
      await spoil();
      const { status, failing } = await readiness();
      expect([status, failing.map(({ part }) => part)]).toEqual([503, ["chain 1 RPC"]]);
      expect(failing[0]?.message).toContain(words);
      expect(lines.join()).toContain(words);
      expect(lines.join()).not.toContain("secret");
    },
  );

  it("names an RPC whose head goes back and stays there, and forgives a short one", async () => {
    expect(await failingParts()).toEqual([]);
    ethereum.head = 40;
    expect(await failingParts()).toEqual([]);
    pass(61);
    const { failing } = await readiness();
    expect(failing.map(({ part }) => part)).toEqual(["chain 1 RPC"]);
    expect(failing[0]?.message).toContain("block 40");
    ethereum.head = 100;
    expect(await failingParts()).toEqual([]);
  });

  it("names a projection that has not begun, or does not follow the log", async () => {
    const { db } = database;
    await sql`delete from engine.checkpoint`.execute(db);
    expect(await failingParts()).toEqual(["projection sales"]);
    await sql`insert into engine.checkpoint values (${schemaOf("sales")}, 3, '', 0)`.execute(db);
    expect(await failingParts()).toEqual([]);
    pass(16);
    const { failing } = await readiness();
    expect(failing).toMatchObject([
      { part: "projection sales", behind: { positions: 1, seconds: 16 } },
    ]);
  });

  it("names a log that does not follow the indexer, whatever the projections say", async () => {
    const { db } = database;
    const emit = async (id: string, number: number) => {
      const { hash } = block(1, number);
      await sql`insert into idx.event values (${id}, 1, 'Erc721', 'Transfer', '{}', ${number}, ${hash}, 0)`.execute(
        db,
      );
    };
    await emit("1", 100);
    await emit("2", 101);
    expect(await failingParts()).toEqual([]);
    pass(14);
    await emit("3", 102);
    expect(await failingParts()).toEqual([]);
    pass(2);
    const { failing } = await readiness();
    expect(failing).toMatchObject([{ part: "chain 1 log", behind: { blocks: 2, seconds: 16 } }]);
    await sql`delete from idx.event where id > '1'`.execute(db);
    expect(await failingParts()).toEqual([]);
  });

  it("names a chain whose blocks are not those of the log, and the command that helps", async () => {
    otherBranch = "fork";
    expect(await failingParts()).toEqual([]);
    pass(19);
    expect(await failingParts()).toEqual([]);
    pass(2);
    const { failing } = await readiness();
    expect(failing).toMatchObject([{ part: "chain 1 branch", behind: { seconds: 21 } }]);
    expect(failing[0]?.message).toContain("op -- recover --chain 1");
    otherBranch = undefined;
    expect(await failingParts()).toEqual([]);
  });

  it("names a role whose last process does not renew its lease, by the clock of the database", async () => {
    const { db } = database;
    await sql`
      insert into ops.lease values ('projector', 'somebody', 1, now() - interval '9 seconds')
    `.execute(db);
    expect(await failingParts()).toEqual([]);
    await sql`update ops.lease set expires_at = now() - interval '11 seconds'`.execute(db);
    expect(await failingParts()).toEqual(["projector"]);
    const text = await (await fetch(`${api.url}/metrics`)).text();
    expect(text).toMatch(/part_failing\{part="projector"\} 1/);
    await sql`update ops.lease set expires_at = now() + interval '2 seconds'`.execute(db);
    expect(await failingParts()).toEqual([]);
  });

  it("names the database when it does not answer, without its address", async () => {
    await api.close();
    api = await serveStatus("postgres://someone:secret@127.0.0.1:1/none");
    expect(await failingParts()).toEqual(["database"]);
  });

  it("names migrations that the database lacks", async () => {
    const { db } = database;
    await sql`alter table ops.migration rename to former_migration`.execute(db);
    expect(await failingParts()).toEqual(["migrations"]);
    await sql`alter table ops.former_migration rename to migration`.execute(db);
    expect(await failingParts()).toEqual([]);
  });
});

describe("GET /v1/status", () => {
  it("tells heads, indexed and finalized blocks, and where projections stand", async () => {
    apechain.head = 102;
    const { status, body } = await api.get("/v1/status");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: {
        ready: true,
        logPosition: 1,
        chains: [
          {
            chainId: 1,
            head: { number: 100 },
            indexed: { number: 100, hash: block(1, 100).hash, timestamp: timestampOf(100) },
            recorded: { number: 100, hash: block(1, 100).hash },
            finalized: { number: 100 },
            lagBlocks: 0,
            lagSeconds: 0,
          },
          {
            chainId: 33139,
            head: { number: 102 },
            indexed: { number: 100, hash: block(33139, 100).hash },
            recorded: null,
            lagBlocks: 2,
            lagSeconds: 24,
          },
        ],
        projections: [{ name: "sales", version: 3, position: 1, lag: 0, lagSeconds: 0 }],
        failing: [],
      },
    });
  });

  it("tells no lag below zero where an indexer is ahead of the head that was seen, nor does op", async () => {
    await indexed(1, 103);
    const { body } = await api.get("/v1/status");
    const ahead = { chainId: 1, lagBlocks: 0, lagSeconds: 0 };
    expect(body).toMatchObject({ data: { chains: [ahead, { chainId: 33139 }] } });
    const { hash } = block(1, 100);
    const seen = { head: { number: 100, hash, timestamp: timestampOf(100) }, faults: [] };
    const config = readConfig({ RPC_URL_1: ethereum.url, FEE_RECIPIENT: addressOf(9) });
    const told = await readServiceProgress(database.db, config, async () => seen);
    expect(told.chains).toMatchObject([{ ...ahead, head: 100, indexed: 103 }]);
  });

  it("answers with what it knows while a chain and the database are gone", async () => {
    await api.close();
    await ethereum.close();
    api = await serveStatus("postgres://someone:secret@127.0.0.1:1/none");
    const { status, body } = await api.get("/v1/status");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: {
        ready: false,
        logPosition: null,
        chains: [{ head: null }, { head: { number: 100 } }],
      },
    });
  });
});

describe("/metrics", () => {
  it("tells requests by route pattern, and how far the parts are", async () => {
    await api.get("/v1/status");
    await (await fetch(`${api.url}/no/such/path`)).arrayBuffer();
    const text = await (await fetch(`${api.url}/metrics`)).text();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/v1\/status",status="200"\} 1/,
    );
    expect(text).toMatch(/route="unmatched",status="404"\} 1/);
    expect(text).toMatch(/indexer_lag_blocks\{chain="1"\} 0/);
    expect(text).toMatch(/projection_lag_facts\{projection="sales"\} 0/);
    expect(text).toContain("nodejs_eventloop_lag_seconds");
  });
});

describe("an operator's listener", () => {
  const hosts = /127\.0\.0\.1|localhost/;

  it("names nodes that fail; the public one does not", async () => {
    const lagging = await startRpc(1, 20);
    await api.close();
    const operators = await openOperators([lagging.url, ethereum.url]);
    const textOf = async (url: string) => (await fetch(url)).text();
    expect(await textOf(`${operators.url}/readyz`)).toMatch(/127\.0\.0\.1:\d+ is at block 20/);
    expect(await textOf(`${api.url}/readyz`)).toContain("a node is at block 20");
    expect(await textOf(`${api.url}/readyz`)).not.toMatch(hosts);
    await lagging.close();
    await ethereum.close();
    expect(await textOf(`${operators.url}/readyz`)).toMatch(/127\.0\.0\.1:\d+ is unreachable/);
    for (const path of ["/readyz", "/v1/status", "/metrics"])
      expect(await textOf(api.url + path), path).not.toMatch(hosts);
    expect(await textOf(`${api.url}/v1/status`)).toContain("a node is unreachable");
  });

  it("names what the indexer's reader waits for; the public one no host", async () => {
    const { db } = database;
    await api.close();
    const operators = await openOperators([ethereum.url]);
    const waiting = "block 101: 127.0.0.1:8545: it has no such block yet";
    await storeNodeFaults(
      db,
      1,
      [
        { part: "127.0.0.1:8545", reason: "it leaves out the logs of block 90" },
        { part: "newest block", reason: waiting },
      ],
      ["127.0.0.1:8545"],
    );
    const textOf = async (url: string) => (await fetch(`${url}/readyz`)).text();
    const [told, masked] = [await textOf(operators.url), await textOf(api.url)];
    expect(told).toContain("127.0.0.1:8545: it leaves out the logs of block 90, since 20");
    expect(masked).toContain("a node: it leaves out the logs of block 90, since 20");
    expect(told).toContain(`newest block: ${waiting}`);
    expect(masked).toContain("newest block: block 101: a node: it has no such block yet");
    expect(masked).not.toMatch(hosts);
    await storeNodeFaults(db, 1, [], []);
    await expect.poll(() => textOf(operators.url)).not.toContain("leaves out");
  });

  it("has the metrics, which the public one then does not serve", async () => {
    await api.close();
    const operators = await openOperators([ethereum.url]);
    const answers = await Promise.all([
      fetch(`${api.url}/metrics`),
      fetch(`${operators.url}/metrics`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 200]);
    expect(await answers[1]?.text()).toContain("http_request_duration_seconds");
    expect(await (await fetch(`${api.url}/`)).text()).not.toContain("/metrics");
  });
});

describe("a head that many ask for", () => {
  it("is read once", async () => {
    const options = { timeoutMs: 1000, maxAgeMs: 60_000, staleBlocks: 50 };
    const readHead = openHeadReader({ chainId: 1, rpcUrls: [ethereum.url], ...options });
    await Promise.all(Array.from({ length: 20 }, readHead));
    await readHead();
    expect(ethereum.asked).toBe(1);
  });

  it("is the highest of several RPCs; one that lags is named", async () => {
    const lagging = await startRpc(1, 20);
    const options = { timeoutMs: 1000, maxAgeMs: 0, staleBlocks: 50 };
    const rpcUrls = [lagging.url, ethereum.url];
    const { head, faults } = await openHeadReader({ chainId: 1, rpcUrls, ...options })();
    await lagging.close();
    expect([head?.number, faults.map(({ kind }) => kind)]).toEqual([100, ["stale"]]);
  });
});

it("a projection is as late as the fact that it misses was appended, whatever time the fact tells", async () => {
  const Body = z.object({ data: z.object({ projections: z.array(z.unknown()) }) });
  const projections = async () => Body.parse((await api.get("/v1/status")).body).data.projections;
  await projections();
  await appendObservations(database.db, [
    {
      kind: "fact_quarantined",
      chainId: 0,
      identity: keccak256(stringToHex("of last year")),
      recordedAt: new Date(clock - 287 * 86_400_000),
      amount: 1n,
      payload: { projection: "none", error: "" },
    },
  ]);
  expect(await projections()).toMatchObject([{ name: "sales", lag: 1, lagSeconds: 0 }]);
  pass(3);
  expect(await projections()).toMatchObject([{ name: "sales", lag: 1, lagSeconds: 3 }]);
  await sql`
    update engine.checkpoint set position = (select position + 2 from log.head)`.execute(
    database.db,
  );
  expect(await projections()).toMatchObject([{ name: "sales", lag: 0, lagSeconds: 0 }]);
});

it("readiness warns of facts that a projection excludes, and metrics count them", async () => {
  await appendObservations(database.db, [
    {
      kind: "fact_quarantined",
      chainId: 0,
      identity: keccak256(stringToHex("left out")),
      recordedAt: new Date("2026-01-01T00:00:00Z"),
      amount: 1n,
      payload: { projection: "sales", error: "no such number" },
    },
  ]);
  await sql`update engine.checkpoint set position = (select position from log.head)`.execute(
    database.db,
  );

  const readiness = await fetch(`${api.url}/readyz`);
  const metrics = await fetch(`${api.url}/metrics`);

  expect(readiness.status).toBe(200);
  expect(await readiness.json()).toMatchObject({
    data: {
      warnings: [
        {
          part: "projection sales",
          kind: "facts_excluded",
          message:
            "excludes 1 fact of chain 1, the oldest since 2026-01-01T00:00:00.000Z: " +
            "`npm run op -- quarantine list` shows them",
        },
      ],
    },
  });
  expect(await metrics.text()).toContain(
    'projection_facts_excluded{projection="sales",chain="1"} 1',
  );
});

it("a chain is on another branch than the log also when a job has read something at a newer block", async () => {
  const { number, hash } = block(1, 101, "fork");
  await appendObservations(database.db, [
    {
      kind: "contract_described",
      chainId: 1,
      contract: addressOf(1),
      identity: keccak256(stringToHex("at a newer block")),
      recordedAt: new Date(clock),
      basis: { number: BigInt(number), hash, timestamp: new Date(clock) },
      payload: {},
    },
  ]);
  await sql`update engine.checkpoint set position = h.position from log.head h`.execute(
    database.db,
  );
  ethereum.head = number;
  otherBranch = "fork";
  expect(await failingParts()).toEqual([]);
  pass(21);
  const { failing } = await readiness();
  expect(failing).toMatchObject([{ part: "chain 1 branch", behind: { seconds: 21 } }]);
  expect(failing[0]?.message).toContain("op -- recover --chain 1");
});

describe("the first time of figures", () => {
  it("is waited for where a process appends it; its fact stays in the log, so this comes last", async () => {
    const { db } = database;
    await sql`
      insert into ops.lease values ('jobs', 'somebody', 1, now() + interval '1 hour')
    `.execute(db);
    await api.close();
    api = await serveStatus(database.url);
    expect(await failingParts()).toEqual(["clock"]);
    await appendObservations(db, [ticked(1_700_000_000n)]);
    expect(await failingParts()).not.toContain("clock");
  });
});

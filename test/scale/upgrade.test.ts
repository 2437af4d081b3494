import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it, onTestFailed } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import { type EmbeddedPostgres, startPostgres } from "#ops/postgres/embedded.ts";
import { startOrphanGuard } from "#ops/processes/child.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { getJson, pipelineSettings, until } from "../support/database/pipeline.ts";
import { startLoad } from "./upgrade/load.ts";
import { copyAsNextRelease, type Release, root, startRelease } from "./upgrade/release.ts";

/** What the service promises of an upgrade. */
const maxRefusalMs = 5_000;

let markets: Market[] = [];
let server: EmbeddedPostgres;
let data: string;
let next: string;
const orphanGuard = startOrphanGuard();
const started: Release[] = [];

/** A server of its own: two releases need twice the connections of one. */
beforeAll(async () => {
  markets = await Promise.all(
    ([33139, 1] as const).map((chainId) => openMarket({ chainId, stocked: true })),
  );
  for (const { client, actors } of markets) {
    await client.setIntervalMining({ interval: 1 });
    await actors.alice.approves(contracts.punks);
  }
  data = await mkdtemp(join(tmpdir(), "upgrade-"));
  server = await startPostgres({
    ...{ dataDir: data, durable: false, settings: { max_connections: "400" } },
    logger: pino({ level: "silent" }),
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
  });
  next = await copyAsNextRelease();
});

afterAll(async () => {
  for (const one of started) await one.stop();
  await server?.stop();
  await Promise.all(markets.map((market) => market.stop()));
  for (const path of [data, next])
    if (path !== undefined) await rm(path, { recursive: true, force: true });
});

/** Upgrades under load, and back: from this release to the next beside it, and to this one again. */
async function upgradeAndBack(databaseUrl: string): Promise<void> {
  const settings = await pipelineSettings({
    databaseUrl,
    chains: markets.map(({ anvil }) => anvil),
    // On a busy machine one maker lists for minutes.
    settings: { ORDER_QUOTA_MAKER: "10000", ORDER_QUOTA_CONTRACT: "10000" },
  });
  let releases: Release[] = [];
  const start = async (directory: string) => {
    const release = await startRelease(directory, { settings, orphanGuard });
    started.push(release);
    return release;
  };
  const old = await start(root);
  releases = [old];
  await until("the first release", async () => (await getReady(old)) === 200);
  const load = startLoad({ markets, firstTokenId: 20_001n, releases: () => releases });
  const { seen, isReady } = load;
  onTestFailed(() => {
    process.stderr.write(`${seen.refusedOrders.slice(-10).join("\n")}\n`);
  });
  /** The load balancer leaves it out first; then its processes end. */
  const leave = async (one: Release) => {
    releases = releases.filter((other) => other !== one);
    await one.stop();
  };
  /** Of each chain. */
  const acknowledge = async (count: number) => {
    const before = seen.acknowledged.length;
    await until(`${count} orders of each chain`, async () => {
      const since = seen.acknowledged.slice(before);
      return markets.every(
        ({ anvil }) => since.filter(({ chainId }) => chainId === anvil.chainId).length >= count,
      );
    });
  };
  let back: Release;
  try {
    await acknowledge(3);

    const upgraded = await start(next);
    releases = [old, upgraded];
    await until("the next release beside the first", async () => isReady(upgraded));
    expect(isReady(old)).toBe(true);
    await acknowledge(3);
    await leave(old);
    await acknowledge(3);

    back = await start(root);
    releases = [back, upgraded];
    await until("the first release beside the next", async () => isReady(back));
    releases = [upgraded, back];
    await acknowledge(3);
    await leave(upgraded);
    await acknowledge(3);

    for (const { chainId, askId } of seen.acknowledged) {
      const { status } = await getJson(back.baseUrl, `/v1/listings/${askId}?chainId=${chainId}`);
      expect([askId, status]).toEqual([askId, 200]);
    }
  } finally {
    await load.stop();
  }
  expect(seen.faults).toEqual([]);
  expect(seen.longestRefusalMs).toBeLessThan(maxRefusalMs);
  expect(seen.longestRetryAfterSeconds).toBeLessThanOrEqual(maxRefusalMs / 1_000);
  expect(await readMissing(databaseUrl)).toBe("0");
  await back.stop();
}

const tellOnFailure = () =>
  onTestFailed(() => {
    for (const { output } of started) process.stderr.write(`${output.slice(-40).join("\n")}\n`);
  });

it("an upgrade and its rollback under load lose no acknowledged order and answer every read", async () => {
  tellOnFailure();
  await upgradeAndBack(await createDatabase("shared"));
});

/** An empty one of the server; its address. */
async function createDatabase(name: string): Promise<string> {
  await query(server.url, `create database ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

/** Positions of the log without a fact. */
async function readMissing(url: string): Promise<string | undefined> {
  const [row] = await query(
    url,
    "select (select position from log.head) - count(*) as missing from log.fact",
  );
  return row?.missing;
}

async function query(url: string, statement: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(statement);
  await client.end();
  return rows;
}

async function getReady(release: Release): Promise<number> {
  try {
    return (await getJson(release.baseUrl, "/readyz")).status;
  } catch {
    return 0;
  }
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it, onTestFailed } from "vitest";
import { type EmbeddedPostgres, startPostgres } from "../../api/run/postgres/embedded.ts";
import { startOrphanGuard } from "../../api/run/supervisor/orphan-guard.ts";
import { contracts } from "../../devnet/contracts/addresses.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { getJson, pipelineSettings, until } from "../support/database/pipeline.ts";
import { startLoad } from "./upgrade/load.ts";
import { copyAsNextRelease, type Release, root, startRelease } from "./upgrade/release.ts";

/** What the service promises of an upgrade. */
const maxRefusalMs = 5_000;

let market: Market;
let server: EmbeddedPostgres;
let data: string;
let next: string;
let settings: Record<string, string>;
const orphanGuard = startOrphanGuard();
const started: Release[] = [];

/** A server of its own: two releases need twice the connections of one. */
beforeAll(async () => {
  market = await openMarket({ chainId: 33139, stocked: true });
  await market.client.setIntervalMining({ interval: 1 });
  data = await mkdtemp(join(tmpdir(), "upgrade-"));
  server = await startPostgres({
    ...{ dataDir: data, durable: false },
    logger: pino({ level: "silent" }),
    onSpawn: (pid) => orphanGuard.add(pid, "SIGINT"),
  });
  settings = await pipelineSettings({ databaseUrl: server.url, chains: [market.anvil] });
  next = await copyAsNextRelease();
});

afterAll(async () => {
  for (const one of started) await one.stop();
  await server?.stop();
  await market?.stop();
  for (const path of [data, next])
    if (path !== undefined) await rm(path, { recursive: true, force: true });
});

async function start(directory: string): Promise<Release> {
  const release = await startRelease(directory, { settings, orphanGuard });
  started.push(release);
  return release;
}

it("an upgrade and its rollback under load lose no acknowledged order and answer every read", async () => {
  let releases: Release[] = [];
  onTestFailed(() => {
    for (const { output } of started) process.stderr.write(`${output.slice(-40).join("\n")}\n`);
  });
  await market.actors.alice.approves(contracts.punks);
  const old = await start(root);
  releases = [old];
  await until("the first release", async () => (await getReady(old)) === 200);
  const load = startLoad(market, () => releases);
  const { seen, isReady } = load;
  /** The load balancer leaves it out first; then its processes end. */
  const leave = async (one: Release) => {
    releases = releases.filter((other) => other !== one);
    await one.stop();
  };
  const acknowledge = async (count: number) => {
    const before = seen.acknowledged.length;
    await until(`${count} orders`, async () => seen.acknowledged.length >= before + count);
  };
  try {
    await acknowledge(3);

    const upgraded = await start(next);
    releases = [old, upgraded];
    await until("the next release beside the first", async () => isReady(upgraded));
    expect(isReady(old)).toBe(true);
    await acknowledge(3);
    await leave(old);
    await acknowledge(3);

    const back = await start(root);
    releases = [back, upgraded];
    await until("the first release beside the next", async () => isReady(back));
    releases = [upgraded, back];
    await acknowledge(3);
    await leave(upgraded);
    await acknowledge(3);

    for (const askId of seen.acknowledged) {
      const { status } = await getJson(back.baseUrl, `/v1/listings/${askId}?chainId=33139`);
      expect([askId, status]).toEqual([askId, 200]);
    }
  } finally {
    await load.stop();
  }
  expect(seen.faults).toEqual([]);
  expect(seen.longestRefusalMs).toBeLessThan(maxRefusalMs);
  expect(seen.longestRetryAfterSeconds).toBeLessThanOrEqual(maxRefusalMs / 1_000);
  expect(await readMissing()).toBe("0");
});

/** Positions of the log without a fact. */
async function readMissing(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ missing: string }>(
    "select (select position from log.head) - count(*) as missing from log.fact",
  );
  await client.end();
  return rows[0]?.missing;
}

async function getReady(release: Release): Promise<number> {
  try {
    return (await getJson(release.baseUrl, "/readyz")).status;
  } catch {
    return 0;
  }
}

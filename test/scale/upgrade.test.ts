import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it, onTestFailed } from "vitest";
import { contracts } from "../../devnet/contracts/addresses.ts";
import { type Market, openMarket } from "../support/chain/market.ts";
import { getJson, pipelineSettings, until } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { startLoad } from "./upgrade/load.ts";
import { copyAsNextRelease, type Release, root, startRelease } from "./upgrade/release.ts";

/** What the service promises of an upgrade. */
const maxGapMs = 5_000;

let market: Market;
let database: TestDatabase;
let next: string;
let settings: Record<string, string>;
const started: Release[] = [];

beforeAll(async () => {
  market = await openMarket({ chainId: 33139, stocked: true });
  await market.client.setIntervalMining({ interval: 1 });
  database = await createDatabase();
  settings = await pipelineSettings({ databaseUrl: database.url, chains: [market.anvil] });
  next = await copyAsNextRelease();
});

afterAll(async () => {
  for (const one of started) await one.stop();
  await database?.drop();
  await market?.stop();
  if (next !== undefined) await rm(next, { recursive: true });
});

async function start(directory: string): Promise<Release> {
  const release = await startRelease(directory, settings);
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
  /** A load balancer is told first; then the processes end. */
  const leave = async (one: Release) => {
    releases = releases.filter((other) => other !== one);
    await one.stop();
  };
  const acknowledge = async (count: number) => {
    const before = seen.acknowledged.length;
    await until(`${count} orders`, async () => seen.acknowledged.length >= before + count);
  };
  try {
    await acknowledge(5);

    const upgraded = await start(next);
    releases = [old, upgraded];
    await until("the next release beside the first", async () => isReady(upgraded));
    expect(isReady(old)).toBe(true);
    await acknowledge(5);
    await leave(old);
    await acknowledge(5);

    const back = await start(root);
    releases = [back, upgraded];
    await until("the first release beside the next", async () => isReady(back));
    releases = [upgraded, back];
    await acknowledge(5);
    await leave(upgraded);
    await acknowledge(5);

    for (const askId of seen.acknowledged) {
      const { status } = await getJson(back.baseUrl, `/v1/listings/${askId}?chainId=33139`);
      expect([askId, status]).toEqual([askId, 200]);
    }
  } finally {
    await load.stop();
  }
  process.stdout.write(`${JSON.stringify({ ...seen, answers: [...seen.answers] })}\n`);
  expect(seen.faults).toEqual([]);
  expect(seen.longestGapMs).toBeLessThan(maxGapMs);
  const { rows } = await sql`
    select (select position from log.head) - count(*) as missing from log.fact`.execute(
    database.db,
  );
  expect(rows).toEqual([{ missing: 0n }]);
});

async function getReady(release: Release): Promise<number> {
  try {
    return (await getJson(release.baseUrl, "/readyz")).status;
  } catch {
    return 0;
  }
}
